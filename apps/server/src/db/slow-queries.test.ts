import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { minute } from '../core/clock.ts'
import { SlowQueries, type SlowQuery } from './slow-queries.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function listening(limitMs: number) {
  const slow = new SlowQueries()
  const reported: SlowQuery[] = []
  slow.listen(limitMs, (query) => void reported.push(query))
  return { slow, reported }
}

test('reports a statement that takes as long as the limit, on one line of 1,000 characters at most', () => {
  const { slow, reported } = listening(50)
  slow.note('select 1', 49)
  slow.note(' select\n  2 ', 50.4)
  slow.note(() => 'x'.repeat(2000), 60)
  expect(reported).toEqual([
    { query: 'select 2', ms: 50 },
    { query: 'x'.repeat(1000), ms: 60 },
  ])
})

test('reports 20 in a minute at most, and then how many it left out', () => {
  const { slow, reported } = listening(50)
  for (let n = 0; n < 23; n += 1) slow.note('select 1', 50)
  expect(reported).toHaveLength(20)
  expect(slow.count).toBe(23)
  vi.advanceTimersByTime(minute)
  slow.note('select 2', 50)
  slow.note('select 3', 50)
  expect(reported.slice(20)).toEqual([
    { query: 'select 2', ms: 50, omitted: 3 },
    { query: 'select 3', ms: 50 },
  ])
})

test('reports nothing with a limit of 0', () => {
  const { slow, reported } = listening(0)
  slow.note('select 1', 1e9)
  expect([reported, slow.count]).toEqual([[], 0])
})
