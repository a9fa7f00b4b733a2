import { afterEach, expect, test, vi } from 'vitest'
import { inSlices } from './slices.ts'

afterEach(() => vi.restoreAllMocks())

/** The sizes of the slices of work that takes half a millisecond for a row. */
async function sizesOn(dialect: 'sqlite' | 'postgres'): Promise<number[]> {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const sizes: number[] = []
  await inSlices(async (size) => {
    sizes.push(size)
    now += size / 2
    return sizes.length < 4 ? size : 0
  }, dialect)
  return sizes
}

test('a slice takes 15 ms on SQLite, where it blocks the thread, and 40 ms on PostgreSQL', async () => {
  expect(await sizesOn('sqlite')).toEqual([100, 30, 30, 30])
  expect(await sizesOn('postgres')).toEqual([100, 80, 80, 80])
})
