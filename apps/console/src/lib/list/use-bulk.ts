import type { UndoRow } from '@keyward/contract'
import { useRef, useState } from 'react'
import { useWrite } from '../api/write.ts'
import type { Extension } from '../format/extension.ts'
import { type Batch, changeInBatches, type Failure, toBatches } from './bulk.ts'

/** Small enough for progress about every second. */
const batchSize = 50

export interface BulkEnd {
  /** Selects the rows that failed. */
  onSelect: (ids: string[]) => void
  onClose: () => void
}

type BulkInput = Omit<BulkRequest, 'idempotencyKey'>

export interface BulkRequest {
  /** Set for the action `extend`. */
  extension?: Extension | undefined
  /** The reason of a ban. */
  reason?: string | undefined
  idempotencyKey: string
}

export interface BulkChanges {
  /** How many really changed. */
  changed: number
  /** What undoes their changes. */
  undo: UndoRow[]
  extension: Extension | undefined
}

interface Bulk<Row> extends BulkEnd {
  rows: Row[]
  /** Changes all of these rows or none. */
  change: (rows: Row[], request: BulkRequest) => Promise<{ changed: number; undo: UndoRow[] }>
  /** Called once with all rows that did not fail, unless there are none. */
  onDone: (rows: Row[], result: BulkChanges) => void
}

/** Runs an action on many rows in a dialog, with progress and with retry of the rows that failed. */
export function useBulk<Row extends { _id: string }>({ change, ...bulk }: Bulk<Row>) {
  // Keep the selection of the start: the list may change while this runs.
  const [rows] = useState(bulk.rows)
  const input = useRef<BulkInput>({})
  const changes = useRef({ changed: 0, undo: [] as UndoRow[] })
  const [done, setDone] = useState<Row[]>([])
  const [failed, setFailed] = useState<Failure<Row>[]>([])
  const [left, setLeft] = useState<Batch<Row>[]>([])
  const [count, setCount] = useState(0)
  const work = useWrite({
    mutationFn: (batches: Batch<Row>[]) =>
      changeInBatches({
        batches,
        change: async (batch, idempotencyKey) => {
          const answer = await change(batch, { ...input.current, idempotencyKey })
          changes.current.changed += answer.changed
          changes.current.undo.push(...answer.undo)
        },
        onProgress: setCount,
      }),
    onMutate: () => setCount(0),
  })

  async function run(batches: Batch<Row>[]) {
    const result = await work.mutateAsync(batches)
    const all = [...done, ...result.done]
    setDone(all)
    setFailed(result.failed)
    setLeft(result.left)
    bulk.onSelect(rowsOf(result.left).map(({ _id }) => _id))
    if (result.failed.length === 0) finish(all)
  }
  function start(by: BulkInput = {}) {
    input.current = by
    void run(toBatches(rows, batchSize))
  }
  function finish(all: Row[]) {
    if (all.length > 0) bulk.onDone(all, { ...changes.current, extension: input.current.extension })
    bulk.onClose()
  }

  return {
    rows,
    done,
    failed,
    start,
    retry: left.length > 0 ? () => void run(left) : undefined,
    finish: () => finish(done),
    busy: work.isPending,
    progress: work.isPending ? { done: count, total: rowsOf(work.variables).length } : undefined,
  }
}

const rowsOf = <Row>(batches: readonly Batch<Row>[]): Row[] => batches.flatMap(({ rows }) => rows)
