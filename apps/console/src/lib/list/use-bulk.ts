import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { changeInBatches, type Failure } from './bulk.ts'

/** Small enough that one tells how far it is every second or so. */
const batchSize = 50

export interface BulkEnd {
  /** Which stay chosen when it is over. */
  onSelect: (ids: string[]) => void
  onClose: () => void
}

interface Bulk<Row> extends BulkEnd {
  rows: Row[]
  /** All of these rows or none. */
  change: (rows: Row[], days?: number) => Promise<unknown>
  refresh: () => void
  /** Told once, about all that was changed, and never about nothing. */
  onDone: (rows: Row[], days?: number) => void
}

/** A dialog's work on many rows at once: how far it is, and what failed and may be tried again before it closes. */
export function useBulk<Row extends { _id: string }>({ change, refresh, ...bulk }: Bulk<Row>) {
  // What was chosen when it opened: the list goes on changing while this works.
  const [rows] = useState(bulk.rows)
  const [days, setDays] = useState<number>()
  const [done, setDone] = useState<Row[]>([])
  const [failed, setFailed] = useState<Failure<Row>[]>([])
  const [count, setCount] = useState(0)
  const work = useMutation({
    mutationFn: (given: { rows: Row[]; days: number | undefined }) =>
      changeInBatches({
        rows: given.rows,
        change: (batch) => change(batch, given.days),
        batchSize,
        onProgress: setCount,
      }),
    onMutate: () => setCount(0),
    onSettled: refresh,
  })

  async function run(given: Row[], by: number | undefined) {
    setDays(by)
    const result = await work.mutateAsync({ rows: given, days: by })
    const all = [...done, ...result.done]
    setDone(all)
    setFailed(result.failed)
    bulk.onSelect(thereStill(result.failed).map(({ _id }) => _id))
    if (result.failed.length === 0) leave(all, by)
  }
  function leave(all: Row[], by: number | undefined) {
    if (all.length > 0) bulk.onDone(all, by)
    bulk.onClose()
  }

  const again = thereStill(failed)
  return {
    rows,
    done,
    failed,
    start: (by?: number) => void run(rows, by),
    retry: again.length > 0 ? () => void run(again, days) : undefined,
    leave: () => leave(done, days),
    busy: work.isPending,
    progress: work.isPending ? { done: count, total: work.variables.rows.length } : undefined,
  }
}

const thereStill = <Row>(failed: Failure<Row>[]) => failed.filter(({ gone }) => !gone).map(({ row }) => row)
