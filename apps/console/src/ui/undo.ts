import { amountOf } from '../lib/format/words.ts'
import { type BulkRun, changeInBatches } from '../lib/list/bulk.ts'
import { toast } from './toast.tsx'

interface Undo<Row> extends BulkRun<Row> {
  /** What was changed, in the singular: 'license'. */
  noun: string
  refresh: () => void
}

/** The part of a toast that puts many rows back as they were. */
export function undoOption<Row>(undo: Undo<Row>) {
  return { duration: 10_000, action: { label: 'Undo', onClick: () => void putBack(undo) } }
}

async function putBack<Row>({ noun, refresh, ...run }: Undo<Row>) {
  const amount = amountOf(run.rows.length, noun)
  const id = toast.loading('Undoing', { description: amount })
  const { done, failed } = await changeInBatches(run)
  refresh()
  if (failed.length === 0) {
    toast.success('Undone', { id, description: `${amountOf(done.length, noun)} restored.` })
  } else {
    toast.error('Undo Failed', {
      id,
      description: `${failed.length} of ${amount} could not be restored: ${failed[0]?.why}`,
    })
  }
}
