import { expect, test } from 'vitest'
import { normalizeKey } from './ids.ts'
import { keysIn, keysToSearch } from './pasted-keys.ts'

const key = 'ABCDE-FGHJK-MNPQR-STVWX-YZ234'
const spaced = key.replaceAll('-', ' ')

test.each([
  `${key}.`,
  `(${key})`,
  `**${key}**`,
  `Your key: **${key}**.`,
  `License key=${key}, thank you`,
  `Thank you for your purchase! Your key is ${key}. Keep it safe.`,
  `Key #${key}`,
  `<b>${key}</b>`,
  `https://shop.example/thanks?key=${key}&order=12345678`,
  `Your key: ${spaced}.`,
  `Your key ${spaced} for Atlas`,
  'Your key:\nABCDE-FGHJK-\nMNPQR-STVWX-YZ234\nThank you',
  `„${key}“, sagte er`,
  `your key is ${key.toLowerCase()}!`,
])('finds the key in %j', (text) => {
  const { whole = '', parts } = keysIn(text)
  expect([whole, ...parts].map(normalizeKey)).toContain(normalizeKey(key))
  expect(keysToSearch(text).map(normalizeKey)).toContain(normalizeKey(key))
})

test.each([key, spaced, 'frodo', 'no key', '', '...', '💥💥💥'])('tries nothing more for %j', (text) => {
  expect(keysIn(text)).toEqual({ whole: undefined, parts: [] })
})

test('tries a bounded number of parts of a long text, in time', () => {
  const texts = ['a '.repeat(5000), 'abcdef '.repeat(5000), 'a-'.repeat(20_000), '-'.repeat(40_000)]
  const many = Array.from({ length: 2000 }, (_, at) => `word-${at}`).join(' ')
  for (const text of [...texts, many, ':'.repeat(40_000), `${'ABCD '.repeat(8000)}`]) {
    expect(keysIn(text).parts.length).toBeLessThanOrEqual(8)
  }
})

test('does not search for words of a sentence', () => {
  expect(keysToSearch('where is frodo, please answer')).toEqual([])
  expect(keysToSearch('frodo@example.org')).toEqual([])
})
