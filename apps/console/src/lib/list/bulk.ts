import { ApiError, isRejected, messageOf } from '../api/call.ts'
import { newIdempotencyKey } from '../api/idempotency-key.ts'

export interface Failure<Row> {
  row: Row
  reason: string
  /** The row no longer exists, so a retry cannot succeed. */
  gone: boolean
}

/** The rows of one request. Without a response it may have been carried out, so a retry sends the same rows and key. */
export interface Batch<Row> {
  rows: Row[]
  key: string
}

export interface BulkResult<Row> {
  done: Row[]
  failed: Failure<Row>[]
  /** The failed rows that a retry may change. */
  left: Batch<Row>[]
}

export interface BulkRun<Row> {
  batches: readonly Batch<Row>[]
  /** Changes all of these rows or none. */
  change: (rows: Row[], key: string) => Promise<unknown>
  onProgress?: (count: number) => void
}

export function toBatches<Row>(rows: readonly Row[], size: number): Batch<Row>[] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, at) =>
    toBatch(rows.slice(at * size, (at + 1) * size)),
  )
}

const toBatch = <Row>(rows: Row[]): Batch<Row> => ({ rows, key: newIdempotencyKey() })

/**
 * Changes many rows in batches, each all or none. Splits a rejected batch until it finds the rows that caused the
 * rejection. When the server stops responding, all remaining rows count as failed.
 */
export async function changeInBatches<Row>(run: BulkRun<Row>): Promise<BulkResult<Row>> {
  const result: BulkResult<Row> = { done: [], failed: [], left: [] }
  const waiting = [...run.batches]
  for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
    const { rows, key } = batch
    try {
      await run.change(rows, key)
      result.done.push(...rows)
    } catch (error) {
      const oneIsWrong = isRejected(error)
      const reason = messageOf(error, 'It failed for an unknown reason.')
      if (oneIsWrong && rows.length > 1) {
        const half = Math.ceil(rows.length / 2)
        waiting.unshift(toBatch(rows.slice(0, half)), toBatch(rows.slice(half)))
      } else {
        const gone = oneIsWrong && error instanceof ApiError && error.status === 404
        const stopped = oneIsWrong ? [batch] : [batch, ...waiting.splice(0)]
        if (!gone) result.left.push(...stopped)
        result.failed.push(
          ...stopped
            .flatMap((one) => one.rows)
            .map((row) => ({ row, reason: gone ? 'It no longer exists.' : reason, gone })),
        )
      }
    }
    run.onProgress?.(result.done.length + result.failed.length)
  }
  return result
}
