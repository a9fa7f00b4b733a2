import { expect, test } from 'vitest'
import { toDayInput } from '../../lib/format/dates.ts'
import { generateSchema } from './generate-schema.ts'

const day = 24 * 60 * 60 * 1000
const today = toDayInput(Date.now())
const yesterday = toDayInput(Date.now() - day)
const takes = (count: number, expiresAt: string, remaining = 5, type = '') =>
  generateSchema(remaining).safeParse({ count, expiresAt, type, note: '' }).success

test('accepts one up to the remaining quota', () => {
  expect([1, 5].map((count) => takes(count, today))).toEqual([true, true])
  expect([0, 6, 1.5, Number.NaN].map((count) => takes(count, today))).toEqual([false, false, false, false])
})

test('accepts today and later, but not yesterday and not an empty date', () => {
  expect(takes(1, today)).toBe(true)
  expect(takes(1, '9999-12-31')).toBe(true)
  expect(takes(1, yesterday)).toBe(false)
  expect(takes(1, '')).toBe(false)
})

test('needs no date for a license type', () => {
  expect(takes(1, '', 5, 'lty_1')).toBe(true)
  expect(takes(6, '', 5, 'lty_1')).toBe(false)
})
