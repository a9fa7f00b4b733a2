import { expect, test } from 'vitest'
import { collectGarbage } from './collect-garbage.ts'

test('returns what is no longer used', () => {
  const allocate = () => Array.from({ length: 500_000 }, (_, at) => ({ text: `text ${at}` }))
  expect(allocate()).toHaveLength(500_000)
  const before = process.memoryUsage().heapTotal
  collectGarbage()
  expect(process.memoryUsage().heapTotal).toBeLessThan(before - 20_000_000)
})
