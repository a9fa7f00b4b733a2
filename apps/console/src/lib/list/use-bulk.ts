import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { changeInBatches, type Failure } from './bulk.ts'

/** Small enough for progress about every second. */
const batchSize = 50

export interface BulkEnd {
  /** Selects the rows that failed. */
  onSelect: (ids: string[]) => void
  onClose: () => void
}

interface Bulk<Row> extends BulkEnd {
  rows: Row[]
  /** Changes all of these rows or none. */
  change: (rows: Row[], days?: number) => Promise<unknown>
  refresh: () => void
  /** Called once with all changed rows, unless there are none. */
  onDone: (rows: Row[], days?: number) => void
}

/** Runs an action on many rows in a dialog, with progress and with retry of the rows that failed. */
export function useBulk<Row extends { _id: string }>({ change, refresh, ...bulk }: Bulk<Row>) {
  // Keep the selection of the start: the list may change while this runs.
  const [rows] = useState(bulk.rows)
  const [days, setDays] = useState<number>()
  const [done, setDone] = useState<Row[]>([])
  const [failed, setFailed] = useState<Failure<Row>[]>([])
  const [count, setCount] = useState(0)
  const work = useMutation({
    mutationFn: (input: { rows: Row[]; days: number | undefined }) =>
      changeInBatches({
        rows: input.rows,
        change: (batch) => change(batch, input.days),
        batchSize,
        onProgress: setCount,
      }),
    onMutate: () => setCount(0),
    onSettled: refresh,
  })

  async function run(input: Row[], by: number | undefined) {
    setDays(by)
    const result = await work.mutateAsync({ rows: input, days: by })
    const all = [...done, ...result.done]
    setDone(all)
    setFailed(result.failed)
    bulk.onSelect(retryableRows(result.failed).map(({ _id }) => _id))
    if (result.failed.length === 0) finish(all, by)
  }
  function finish(all: Row[], by: number | undefined) {
    if (all.length > 0) bulk.onDone(all, by)
    bulk.onClose()
  }

  const retryable = retryableRows(failed)
  return {
    rows,
    done,
    failed,
    start: (by?: number) => void run(rows, by),
    retry: retryable.length > 0 ? () => void run(retryable, days) : undefined,
    finish: () => finish(done, days),
    busy: work.isPending,
    progress: work.isPending ? { done: count, total: work.variables.rows.length } : undefined,
  }
}

const retryableRows = <Row>(failed: Failure<Row>[]) =>
  failed.filter(({ gone }) => !gone).map(({ row }) => row)
