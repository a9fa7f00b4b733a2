import { expect, test } from 'vitest'
import { measurePassword } from './password-strength.ts'

test.each(['password', 'Password1', '123456', 'qwerty!!', 'WELCOME2026'])(
  '%s is named as common',
  (password) => {
    expect(measurePassword(password)).toMatchObject({ score: 1, common: true })
  },
)

test('rates repeats and sequences as weak', () => {
  expect(measurePassword('aaaaaaaaaaaaaaaa').score).toBe(1)
  expect(measurePassword('abcdefghijklmnop').score).toBe(1)
})

test('rates length and variety as strong', () => {
  expect(measurePassword('correct horse battery staple').score).toBe(4)
  expect(measurePassword('Tq7#vL2!').score).toBeGreaterThanOrEqual(2)
  expect(measurePassword('').score).toBe(0)
})
