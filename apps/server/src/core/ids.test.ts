import { describe, expect, test } from 'vitest'
import { newAppId, newAppSecret, newId, newLicenseKey, newToken, normalizeKey, normalizeName } from './ids.ts'

const many = <T>(make: () => T): T[] => Array.from({ length: 2000 }, make)

describe('random values', () => {
  test.each([
    ['a license key', newLicenseKey, /^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/],
    ['an app id', newAppId, /^[0-9A-HJKMNP-TV-Z]{8}$/],
    ['an app secret', newAppSecret, /^[A-Za-z0-9]{32}$/],
    ['a token', () => newToken('kwo'), /^kwo_[\w-]{43}$/],
    ['an id', () => newId('lic'), /^lic_[0-9a-f]{32}$/],
  ])('%s has its format and never repeats', (_what, make, form) => {
    const made = many(make)
    expect(made.every((one) => form.test(one))).toBe(true)
    expect(new Set(made).size).toBe(made.length)
  })

  test('a license key uses every character in every position', () => {
    const keys = many(newLicenseKey).map(normalizeKey)
    for (let place = 0; place < 25; place += 1) {
      expect(new Set(keys.map((key) => key[place])).size).toBe(32)
    }
  })
})

test('ids start with their millisecond and sort by it', () => {
  const before = Date.now()
  const time = Number.parseInt(newId('lic').slice(4, 16), 16)
  expect(time).toBeGreaterThanOrEqual(before)
  expect(time).toBeLessThanOrEqual(Date.now())
})

test.each([
  ['ab12c-de34f', 'AB12CDE34F'],
  [' AB_12 c-', 'AB12C'],
  ['ＡＢ１２Ｃ', 'AB12C'],
  ['“AB12C”–‘DE34F’', 'AB12CDE34F'],
  ['AB\u00ad1\u200b2\ufeff\u202eC\u2060\t\n', 'AB12C'],
  ['AB\u221212\u2014C\u00a0«»´`', 'AB12C'],
  ['---"" \u200b', ''],
  ['', ''],
])('compares the key %j as %j', (key, compared) => {
  expect(normalizeKey(key)).toBe(compared)
})

test('compares keys as they were issued like keys with an invisible character', () => {
  for (const key of many(newLicenseKey)) {
    expect(normalizeKey(key)).toBe(normalizeKey(`${key}\u200b`))
  }
})

test.each([
  [' Alice ', 'alice'],
  ['ＡＬＩＣＥ', 'alice'],
  ['ÅNGSTRÖM', 'ångström'],
  ['A\u030angstro\u0308m', 'ångström'],
])('compares the name %j as %j', (name, compared) => {
  expect(normalizeName(name)).toBe(compared)
})
