import { expect, test } from 'vitest'
import { previewLimit, summarize } from './summary.ts'

test('the average without resellers is zero', () => {
  expect(summarize({ total: 0, licenses: 0 })).toEqual({ total: 0, licenses: 0, average: 0 })
})

test('the average has one decimal', () => {
  expect(summarize({ total: 3, licenses: 10 })).toEqual({ total: 3, licenses: 10, average: 3.3 })
})

test('the remaining quota is never negative', () => {
  expect(previewLimit(10, 4)).toEqual({ limit: 10, used: 4, remaining: 6, belowUsed: false })
  expect(previewLimit(4, 4)).toEqual({ limit: 4, used: 4, remaining: 0, belowUsed: false })
  expect(previewLimit(0, 4)).toEqual({ limit: 0, used: 4, remaining: 0, belowUsed: true })
})

test.each([Number.NaN, -1, 1.5])('a limit of %s has no preview', (limit) => {
  expect(previewLimit(limit, 4)).toBeUndefined()
})
