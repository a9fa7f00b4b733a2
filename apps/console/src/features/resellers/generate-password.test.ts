import { afterEach, expect, test, vi } from 'vitest'
import { generatePassword } from './generate-password.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('has 12 characters, all of them letters, digits and !@#$%^&*', () => {
  for (let round = 0; round < 200; round += 1) {
    expect(generatePassword()).toMatch(/^[A-Za-z0-9!@#$%^&*]{12}$/)
  }
})

test('discards bytes that would favor the first characters', () => {
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    const bytes = array as unknown as Uint8Array
    bytes.fill(255)
    bytes[bytes.length - 1] = 209
    return array
  })
  expect(generatePassword()).toBe('*'.repeat(12))
})
