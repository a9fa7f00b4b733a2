import { expect, test } from 'vitest'
import { afterPrefix, anywhere, toSearchTerm, trigramQuery } from './search.ts'

test.each([undefined, '', '   '])('%j is not a search', (text) => {
  expect(toSearchTerm(text)).toBeUndefined()
})

test.each([
  ['AB12C-', { text: 'ab12c-', key: 'AB12C', short: false }],
  [' Zoë ', { text: 'zoë', key: undefined, short: false }],
  ['ab', { text: 'ab', key: 'AB', short: true }],
  ['東京', { text: '東京', key: undefined, short: true }],
  ['a-b', { text: 'a-b', key: undefined, short: false }],
  ['100%', { text: '100%', key: undefined, short: false }],
])('searches %j as %j', (text, term) => {
  expect(toSearchTerm(text)).toMatchObject(term)
})

test.each([
  [['abcd'], '("abc" AND "bcd")'],
  [['abcdefgh'], '("abc" AND "def" AND "fgh")'],
  [['a-bc', 'ABC'], '("a-b" AND "-bc") OR ("abc")'],
  [['abc', 'ABC'], '("abc")'],
  [['aaaa'], '("aaa")'],
  [['a"b'], '("a""b")'],
  [['ab'], ''],
  [['🔑🗝️x'], '("🔑🗝️" AND "🗝️x")'],
])('queries the index for %j with %s', (texts, query) => {
  expect(trigramQuery(texts)).toBe(query)
})

test.each([
  ['a%b', '%a\\%b%'],
  ['a_b', '%a\\_b%'],
  ['a\\b', '%a\\\\b%'],
])('matches %j anywhere with %s', (text, pattern) => {
  expect(anywhere(text)).toBe(pattern)
})

test('a prefix range contains every text with that prefix, in byte order', () => {
  const isBelow = (text: string) => Buffer.compare(Buffer.from(text), Buffer.from(afterPrefix('ab'))) < 0
  for (const text of ['ab', 'abz', 'ab\u{fffd}', 'ab\u{10fffe}']) expect(isBelow(text)).toBe(true)
  expect(isBelow('ac')).toBe(false)
})
