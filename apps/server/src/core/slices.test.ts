import { expect, test } from 'vitest'
import { nextSize } from './slices.ts'

test('a slice takes 15 ms on SQLite, where other writes wait for it, and 40 ms on PostgreSQL', () => {
  expect(nextSize(100, 50, 'sqlite')).toBe(30)
  expect(nextSize(100, 50, 'postgres')).toBe(80)
})

test('a slice takes 5 ms while other writes wait for those of SQLite', () => {
  expect(nextSize(100, 10, 'shared')).toBe(50)
})

test('a slice has at least 20 and at most 1,000 rows', () => {
  expect(nextSize(100, 10_000, 'sqlite')).toBe(20)
  expect(nextSize(1000, 0, 'sqlite')).toBe(1000)
})
