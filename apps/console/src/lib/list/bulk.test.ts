import { expect, test, vi } from 'vitest'
import { ApiError } from '../api/call.ts'
import { changeInBatches, toBatches } from './bulk.ts'

vi.hoisted(() => vi.stubGlobal('window', { addEventListener() {} }))

const rows = Array.from({ length: 10 }, (_, index) => index)
const refused = (status: number) => new ApiError('No', { status, code: 'x' })

test('runs in batches and reports progress', async () => {
  const seen: number[][] = []
  const progress: number[] = []
  const result = await changeInBatches({
    batches: toBatches(rows, 4),
    change: async (batch) => void seen.push(batch),
    onProgress: (count) => progress.push(count),
  })
  expect(seen.map((batch) => batch.length)).toEqual([4, 4, 2])
  expect(progress).toEqual([4, 8, 10])
  expect(result).toEqual({ done: rows, failed: [], left: [] })
})

test('finds the missing row and changes all others', async () => {
  const result = await changeInBatches({
    batches: toBatches(rows, 10),
    change: async (batch) => {
      if (batch.includes(7)) throw refused(404)
    },
  })
  expect(result.done).toEqual(rows.filter((row) => row !== 7))
  expect(result.failed).toEqual([{ row: 7, reason: 'It no longer exists.', gone: true }])
  expect(result.left).toEqual([])
})

test('a retry sends an unanswered batch with the same rows and key', async () => {
  const sent: { batch: number[]; key: string }[] = []
  const change = async (batch: number[], key: string) => {
    sent.push({ batch, key })
    if (batch.length === 4 && batch.includes(2)) throw refused(404)
    if (sent.length === 3) throw refused(0)
  }
  const { left } = await changeInBatches({ batches: toBatches(rows, 4), change })
  expect(sent.map(({ batch }) => batch)).toEqual([
    [0, 1, 2, 3],
    [0, 1],
    [2, 3],
  ])
  expect(new Set(sent.map(({ key }) => key)).size).toBe(3)
  expect((await changeInBatches({ batches: left, change })).done).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
  expect(sent[3]).toEqual(sent[2])
})

test('stops when the server does not respond, and reports the remaining rows as failed', async () => {
  let calls = 0
  const result = await changeInBatches({
    batches: toBatches(rows, 4),
    change: async () => {
      calls += 1
      if (calls > 1) throw refused(0)
    },
  })
  expect(calls).toBe(2)
  expect(result.done).toEqual([0, 1, 2, 3])
  expect(result.failed.map(({ row }) => row)).toEqual([4, 5, 6, 7, 8, 9])
})
