import { ApiError, messageOf } from '../api/call.ts'

export interface Failure<Row> {
  row: Row
  why: string
  /** Whether it is gone, so that another try cannot help. */
  gone: boolean
}

export interface BulkResult<Row> {
  done: Row[]
  failed: Failure<Row>[]
}

export interface BulkRun<Row> {
  rows: readonly Row[]
  /** All of these rows or none. */
  change: (rows: Row[]) => Promise<unknown>
  batchSize: number
  onProgress?: (count: number) => void
}

/**
 * Changes many rows in batches, each of which is all or none. A batch that is refused is split until the rows are found
 * that it was refused for; when the server does not answer any more, the rest is told as not done.
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
      const why = messageOf(error, 'It failed for an unknown reason.')
      if (oneIsWrong && batch.length > 1) {
        const half = Math.ceil(batch.length / 2)
        waiting.unshift(batch.slice(0, half), batch.slice(half))
      } else {
        const gone = oneIsWrong && error.status === 404
        const rows = oneIsWrong ? batch : [batch, ...waiting.splice(0)].flat()
        result.failed.push(...rows.map((row) => ({ row, why: gone ? 'It no longer exists.' : why, gone })))
      }
    }
    run.onProgress?.(result.done.length + result.failed.length)
  }
  return result
}
