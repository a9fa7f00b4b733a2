import { crc32 } from 'node:zlib'
import { apiKeyPattern } from '@keyward/contract'
import { expect, test } from 'vitest'
import { hintOf, isApiKey, newApiKey } from './api-key.ts'

/** Made with Python's `zlib.crc32` and `divmod`; the last one has a checksum with leading zeros. */
const known = [
  'kwa_00000000000000000000000000000000000iqUEf',
  'kwa_0123456789ABCDEFGHIJKLMNOPQRSTUVWX0TeJoD',
  'kwa_STUVWXYZabcdefghijklmnopqrstuvwxyz2oy74V',
  'kwa_KeywardKeywardKeywardKeywardKeywar1PcxF5',
  'kwa_zzzzzzzzzzzzzzzzzzzzzzzzzzzYFOurnj0000H7',
]

test.each(known)('accepts %s, whose checksum another program computed', (key) => {
  expect(isApiKey(key)).toBe(true)
  expect(key).toMatch(apiKeyPattern)
})

test('a new key has the documented form, and no two are equal', () => {
  const keys = Array.from({ length: 500 }, newApiKey)
  expect(new Set(keys).size).toBe(500)
  for (const key of keys) {
    expect(key).toMatch(/^kwa_[0-9A-Za-z]{40}$/)
    expect(isApiKey(key)).toBe(true)
    const value = [...key.slice(38)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
    expect(value).toBe(crc32(key.slice(4, 38)))
  }
  expect(hintOf('kwa_00000000000000000000000000000000000iqUEf')).toBe('qUEf')
})
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('the random characters of keys are equally frequent', () => {
  const counts = new Map<string, number>()
  const keys = 4000
  for (let at = 0; at < keys; at += 1) {
    for (const one of newApiKey().slice(4, 38)) counts.set(one, (counts.get(one) ?? 0) + 1)
  }
  const expected = (keys * 34) / 62
  const chiSquare = [...digits].reduce(
    (sum, digit) => sum + ((counts.get(digit) ?? 0) - expected) ** 2 / expected,
    0,
  )
  // 61 degrees of freedom: a fair generator exceeds 140 once in ten million runs, bytes modulo 62 reach 800.
  expect(chiSquare).toBeLessThan(140)
})

test('refuses a key with one changed, missing or added character', () => {
  const key = known[1]!
  for (let at = 4; at < key.length; at += 1) {
    const other = key[at] === '7' ? '8' : '7'
    expect(isApiKey(`${key.slice(0, at)}${other}${key.slice(at + 1)}`), `at ${at}`).toBe(false)
  }
  for (const text of [key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`, key.replace('kwa', 'kwo'), ''])
    expect(isApiKey(text), text).toBe(false)
})
