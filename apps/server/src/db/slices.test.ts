import { expect, test } from 'vitest'
import { postgresSyntax } from './postgres/engine.ts'
import { nextSize } from './slices.ts'
import { sqliteSyntax } from './sqlite/dialect.ts'

const [sqlite, postgres] = [sqliteSyntax.pace.partMs, postgresSyntax.pace.partMs]

test('a part of a slice takes 5 ms on SQLite, where other writes wait for it, and 40 ms on PostgreSQL', () => {
  expect(nextSize(100, 10, sqlite)).toBe(50)
  expect(nextSize(100, 50, postgres)).toBe(80)
})

test('a part of a slice has at least 20 and at most 1,000 rows', () => {
  expect(nextSize(100, 10_000, sqlite)).toBe(20)
  expect(nextSize(1000, 0, sqlite)).toBe(1000)
})
