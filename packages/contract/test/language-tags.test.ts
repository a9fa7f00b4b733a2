import { expect, test } from 'vitest'
import { canonicalLocale, lookupTags } from '../src/language-tags.ts'

test.each([
  ['de', 'de'],
  ['PT-br', 'pt-BR'],
  ['zh-hant-tw', 'zh-Hant-TW'],
  ['de_AT.UTF-8', 'de-AT'],
  ['sr_RS@latin', 'sr-RS'],
  [' fr ', 'fr'],
  ['iw', 'he'],
])('reads %s as %s', (name, tag) => {
  expect(canonicalLocale(name)).toBe(tag)
})

test.each([
  '',
  'C',
  '.',
  '../..',
  'de-',
  'deutsch ist schön',
  'x'.repeat(36),
  `de-${'abcdefgh-'.repeat(9)}a`,
])('reads no language from %j', (name) => {
  expect(canonicalLocale(name)).toBeUndefined()
})

test.each([
  ['de', ['de']],
  ['de-AT', ['de-AT', 'de']],
  ['zh-Hant-TW', ['zh-Hant-TW', 'zh-Hant', 'zh']],
  ['de-DE-u-co-phonebk', ['de-DE-u-co-phonebk', 'de-DE-u-co', 'de-DE', 'de']],
])('looks %s up as %j', (locale, tags) => {
  expect(lookupTags(locale)).toEqual(tags)
})
