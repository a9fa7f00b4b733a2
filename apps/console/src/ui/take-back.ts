import { limits, type UndoRow } from '@keyward/contract'
import { isRejected, messageOf } from '../lib/api/call.ts'
import { amountOf } from '../lib/format/words.ts'
import { toBatches } from '../lib/list/bulk.ts'
import { toast } from './toast.tsx'

export interface Undo {
  rows: readonly UndoRow[]
  /** Takes back all of these changes, except where a row has changed since. */
  restore: (rows: UndoRow[]) => Promise<{ changed: number }>
  /** Singular: 'license'. */
  noun: string
}

/** Takes back many changes, and says what came of it. */
export async function takeBack({ noun, rows, restore }: Undo) {
  const amount = amountOf(rows.length, noun)
  const id = toast.loading('Undoing', { description: amount })
  let changed = 0
  let done = 0
  let reason: string | undefined
  // The server skips what it cannot restore, so a smaller part would fail like the whole.
  for (const { rows: batch } of toBatches(rows, limits.bulkMax)) {
    try {
      changed += (await restore(batch)).changed
      done += batch.length
    } catch (error) {
      reason ??= messageOf(error, 'It failed for an unknown reason.')
      if (!isRejected(error)) break
    }
  }
  const stays = done - changed
  if (reason !== undefined) {
    toast.error('Undo Failed', {
      id,
      description: `${rows.length - done} of ${amount} could not be restored: ${reason}`,
    })
  } else if (stays > 0) {
    toast.info(changed > 0 ? 'Partly Undone' : 'Nothing Undone', {
      id,
      description: `${changed} of ${amount} restored. ${amountOf(stays, 'has', 'have')} changed since, and ${stays === 1 ? 'stays as it is' : 'stay as they are'}.`,
    })
  } else {
    toast.success('Undone', { id, description: `${amountOf(changed, noun)} restored.` })
  }
}
