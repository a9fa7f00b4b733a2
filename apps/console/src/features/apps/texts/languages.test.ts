import { expect, test } from 'vitest'
import { findLanguages, languageOptions } from './languages.ts'

const values = (options: { value: string }[]) => options.map(({ value }) => value)

test('languages with texts come before the others, and none twice', () => {
  const found = values(languageOptions(['fr', 'de-AT']))
  expect(found.slice(0, 3)).toEqual(['default', 'de-AT', 'fr'])
  expect(new Set(found).size).toBe(found.length)
})

test.each([
  ['german', ['de']],
  ['de-at', ['de-AT']],
  ['portuguese', ['pt-BR', 'pt-PT']],
  ['de_CH', ['de-CH']],
  ['gibberish', []],
  ['-', ['pt-BR', 'pt-PT', 'zh-Hans', 'zh-Hant']],
])('the search for %j finds %j', (text, found) => {
  expect(values(findLanguages(text, [])).toSorted()).toEqual(found)
})
