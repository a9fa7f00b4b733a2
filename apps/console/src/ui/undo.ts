import { amountOf } from '../lib/format/words.ts'
import { type BulkRun, changeInBatches } from '../lib/list/bulk.ts'
import { toast } from './toast.tsx'

interface Undo<Row> extends BulkRun<Row> {
  /** Singular: 'license'. */
  noun: string
  refresh: () => void
}

/** The Undo button of a toast, which restores many rows. */
export function undoOption<Row>(undo: Undo<Row>) {
  return { duration: 10_000, action: { label: 'Undo', onClick: () => void restore(undo) } }
}

async function restore<Row>({ noun, refresh, ...run }: Undo<Row>) {
  const amount = amountOf(run.rows.length, noun)
  const id = toast.loading('Undoing', { description: amount })
  const { done, failed } = await changeInBatches(run)
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
