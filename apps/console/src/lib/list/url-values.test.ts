import { endpoints, limits } from '@keyward/contract'
import { expect, test } from 'vitest'
import { toDay, toId, toPage, toSearch } from './url-values.ts'

const query = endpoints.activity.list.query!
const texts = [
  'rubbish',
  '',
  ' ',
  '0',
  '-1',
  '1.5',
  '99999999999999999999',
  'Infinity',
  '2024-02-29',
  '2023-02-29',
  '2024-02-31',
  '2024-13-01',
  '0000-01-01',
  '2024-1-1',
  'x'.repeat(limits.searchMax + 1),
  '\u0000',
  '2024-01-01T00:00:00Z',
]

test.each(texts)('the server accepts what is left of %j', (text) => {
  const left = { page: toPage(text), app: toId(text), client: toId(text), from: toDay(text), to: toDay(text) }
  const sent = Object.entries(left).filter(([, value]) => value !== undefined && value !== '')
  expect(query.safeParse(Object.fromEntries(sent)).success).toBe(true)
  expect(JSON.stringify(left)).not.toContain('\\u0000')
  expect(toSearch(text)?.length ?? 0).toBeLessThanOrEqual(limits.searchMax)
  expect(toSearch(text) ?? '').not.toContain('\u0000')
})

test('keeps valid values', () => {
  expect(toPage('12')).toBe(12)
  expect(toDay('2024-02-29')).toBe('2024-02-29')
  expect(toId('app_1')).toBe('app_1')
  expect(toSearch(' KEY ')).toBe('KEY')
})
