import { ApiError, messageOf } from '../api/call.ts'

export interface Failure<Row> {
  row: Row
  reason: string
  /** The row no longer exists, so a retry cannot succeed. */
  gone: boolean
}

export interface BulkResult<Row> {
  done: Row[]
  failed: Failure<Row>[]
}

export interface BulkRun<Row> {
  rows: readonly Row[]
  /** Changes all of these rows or none. */
  change: (rows: Row[]) => Promise<unknown>
  batchSize: number
  onProgress?: (count: number) => void
}

/**
 * Changes many rows in batches, each all or none. Splits a rejected batch until it finds the rows that caused the
 * rejection. When the server stops responding, all remaining rows count as failed.
 */
export async function changeInBatches<Row>(run: BulkRun<Row>): Promise<BulkResult<Row>> {
  const result: BulkResult<Row> = { done: [], failed: [] }
  const waiting: Row[][] = []
  for (let at = 0; at < run.rows.length; at += run.batchSize)
    waiting.push(run.rows.slice(at, at + run.batchSize))
  for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
    try {
      await run.change(batch)
      result.done.push(...batch)
    } catch (error) {
      const refused = error instanceof ApiError && error.status >= 400 && error.status < 500
      const oneIsWrong = refused && error.status !== 401 && error.status !== 429
      const reason = messageOf(error, 'It failed for an unknown reason.')
      if (oneIsWrong && batch.length > 1) {
        const half = Math.ceil(batch.length / 2)
        waiting.unshift(batch.slice(0, half), batch.slice(half))
      } else {
        const gone = oneIsWrong && error.status === 404
        const rows = oneIsWrong ? batch : [batch, ...waiting.splice(0)].flat()
        result.failed.push(
          ...rows.map((row) => ({ row, reason: gone ? 'It no longer exists.' : reason, gone })),
        )
      }
    }
    run.onProgress?.(result.done.length + result.failed.length)
  }
  return result
}
