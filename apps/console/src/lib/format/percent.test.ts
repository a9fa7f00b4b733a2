import { expect, test } from 'vitest'
import { percentOf } from './percent.ts'

test('rounds to integers, and returns 0 for a total of 0', () => {
  expect(percentOf(1, 3)).toBe(33)
  expect(percentOf(0, 0)).toBe(0)
})
