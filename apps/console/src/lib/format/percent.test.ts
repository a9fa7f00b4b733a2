import { expect, test } from 'vitest'
import { percentOf } from './percent.ts'

test('percent are whole, and none of nothing', () => {
  expect(percentOf(1, 3)).toBe(33)
  expect(percentOf(0, 0)).toBe(0)
})
