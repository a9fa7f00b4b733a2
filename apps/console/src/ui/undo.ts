import { amountOf } from '../lib/format/words.ts'
import { changeInBatches, toBatches } from '../lib/list/bulk.ts'
import { toast } from './toast.tsx'

interface Undo<Row> {
  rows: readonly Row[]
  /** Changes all of these rows or none. */
  change: (rows: Row[]) => Promise<unknown>
  batchSize: number
  /** Singular: 'license'. */
  noun: string
  refresh: () => void
}

/** The Undo button of a toast, which restores many rows. */
export function undoOption<Row>(undo: Undo<Row>) {
  return { duration: 10_000, action: { label: 'Undo', onClick: () => void restore(undo) } }
}

async function restore<Row>({ noun, refresh, rows, batchSize, change }: Undo<Row>) {
  const amount = amountOf(rows.length, noun)
  const id = toast.loading('Undoing', { description: amount })
  const { done, failed } = await changeInBatches({ batches: toBatches(rows, batchSize), change })
  refresh()
  if (failed.length === 0) {
    toast.success('Undone', { id, description: `${amountOf(done.length, noun)} restored.` })
  } else {
    toast.error('Undo Failed', {
      id,
      description: `${failed.length} of ${amount} could not be restored: ${failed[0]?.reason}`,
    })
  }
}
