import { messageDefaults } from '@keyward/contract'
import { expect, test } from 'vitest'
import { chooseLanguage, chooseLocale, languageCodes, languages } from './languages.ts'
import { en } from './texts/en.ts'

type Tree = { [key: string]: string | Tree }

/** The texts by their path. */
const flat = (tree: Tree, path = ''): [string, string][] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[`${path}${key}`, value] as [string, string]]
      : flat(value, `${path}${key}.`),
  )
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
const english = flat(en)

test.each(languageCodes)('%s has every text, with the placeholders of the English one', async (code) => {
  const texts = new Map(flat(await languages[code].load()))
  expect([...texts.keys()]).toEqual(english.map(([path]) => path))
  for (const [path, text] of english) {
    expect(texts.get(path)?.trim(), path).not.toBe('')
    expect(placeholders(texts.get(path) ?? ''), path).toEqual(placeholders(text))
  }
})

test.each(languageCodes.filter((code) => code !== 'en'))('%s leaves no sentence in English', async (code) => {
  const texts = new Map(flat(await languages[code].load()))
  const same = english.filter(([path, text]) => texts.get(path) === text && /\p{L}+\s+\p{L}+/u.test(text))
  expect(same).toEqual([])
})

test.each(languageCodes)('%s explains every reason for which a program is refused', async (code) => {
  const { refusals } = await languages[code].load()
  const { loggedInMsg: _success, ...reasons } = messageDefaults
  expect(Object.keys(refusals).sort()).toEqual(Object.keys(reasons).sort())
  for (const [reason, { title, why, fix }] of Object.entries(refusals)) {
    for (const text of [title, why, fix]) expect(text.length, reason).toBeGreaterThan(2)
    expect(why, reason).not.toBe(fix)
    for (const sentence of [why, fix]) expect(sentence, reason).toMatch(/[.。]$/)
  }
})

test('chooses the first language that the person reads', () => {
  expect(chooseLanguage(['fr-FR', 'pt-PT', 'en'])).toBe('pt')
  expect(chooseLanguage(['zh-Hant-TW'])).toBe('zh')
  expect(chooseLanguage(['DE-at'])).toBe('de')
  expect(chooseLanguage(['fr'])).toBe('en')
  expect(chooseLanguage([])).toBe('en')
})

test('writes dates as the person is used to, in the language of the page', () => {
  expect(chooseLocale('de', ['en-US', 'de-AT'])).toBe('de-AT')
  expect(chooseLocale('pt', ['en-US'])).toBe('pt-BR')
})
