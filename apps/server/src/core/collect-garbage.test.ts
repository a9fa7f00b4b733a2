import { cachedDataVersionTag } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { collectGarbage } from './collect-garbage.ts'

test('returns what is no longer used', () => {
  const allocate = () => Array.from({ length: 500_000 }, (_, at) => ({ text: `text ${at}` }))
  expect(allocate()).toHaveLength(500_000)
  const before = process.memoryUsage().heapTotal
  collectGarbage()
  expect(process.memoryUsage().heapTotal).toBeLessThan(before - 20_000_000)
})

test('leaves later threads the compiled code of the server, and no access to the collector', () => {
  const before = cachedDataVersionTag()
  collectGarbage()
  expect(cachedDataVersionTag()).toBe(before)
  expect(runInNewContext('typeof gc')).toBe('undefined')
})
