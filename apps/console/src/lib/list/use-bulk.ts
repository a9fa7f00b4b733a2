import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Batch, changeInBatches, type Failure, toBatches } from './bulk.ts'

/** Small enough for progress about every second. */
const batchSize = 50

export interface BulkEnd {
  /** Selects the rows that failed. */
  onSelect: (ids: string[]) => void
  onClose: () => void
}

export interface BulkRequest {
  days: number | undefined
  idempotencyKey: string
}

interface Bulk<Row> extends BulkEnd {
  rows: Row[]
  /** Changes all of these rows or none. */
  change: (rows: Row[], request: BulkRequest) => Promise<unknown>
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
  const [left, setLeft] = useState<Batch<Row>[]>([])
  const [count, setCount] = useState(0)
  const work = useMutation({
    mutationFn: ({ batches, days }: { batches: Batch<Row>[]; days: number | undefined }) =>
      changeInBatches({
        batches,
        change: (batch, idempotencyKey) => change(batch, { days, idempotencyKey }),
        onProgress: setCount,
      }),
    onMutate: () => setCount(0),
    onSettled: refresh,
  })

  // A second click may arrive before the busy dialog is drawn.
  const isRunning = useRef(false)

  async function run(batches: Batch<Row>[], by: number | undefined) {
    if (isRunning.current) return
    isRunning.current = true
    setDays(by)
    const result = await work.mutateAsync({ batches, days: by }).finally(() => {
      isRunning.current = false
    })
    const all = [...done, ...result.done]
    setDone(all)
    setFailed(result.failed)
    setLeft(result.left)
    bulk.onSelect(rowsOf(result.left).map(({ _id }) => _id))
    if (result.failed.length === 0) finish(all, by)
  }
  function finish(all: Row[], by: number | undefined) {
    if (all.length > 0) bulk.onDone(all, by)
    bulk.onClose()
  }

  return {
    rows,
    done,
    failed,
    start: (by?: number) => void run(toBatches(rows, batchSize), by),
    retry: left.length > 0 ? () => void run(left, days) : undefined,
    finish: () => finish(done, days),
    busy: work.isPending,
    progress: work.isPending ? { done: count, total: rowsOf(work.variables.batches).length } : undefined,
  }
}

const rowsOf = <Row>(batches: readonly Batch<Row>[]): Row[] => batches.flatMap(({ rows }) => rows)
