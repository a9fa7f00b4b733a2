import { longestExtension } from '@keyward/contract'
import { useState } from 'react'
import { useAppsOf } from '../lib/api/apps.ts'
import { oldProgramsWarningOf } from '../lib/format/ending.ts'
import { extendedText, toExtension } from '../lib/format/extension.ts'
import { amountOf } from '../lib/format/words.ts'
import { typedNumber } from '../lib/list/typed-number.ts'
import { type BulkChanges, type BulkEnd, useBulk } from '../lib/list/use-bulk.ts'
import { BulkFailures } from './bulk-failures.tsx'
import { affectedRows, type BulkAction, type BulkNoun, type BulkRow } from './bulk-noun.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { ReasonField } from './note-field.tsx'
import { TimeDialog } from './time-dialog.tsx'
import { toast } from './toast.tsx'
import { WorkProgress } from './work-progress.tsx'

const verbs: Record<BulkAction, { title: string; past: string; now: string }> = {
  extend: { title: 'Extend', past: 'extended', now: 'Extending' },
  ban: { title: 'Ban', past: 'banned', now: 'Banning' },
  unban: { title: 'Unban', past: 'unbanned', now: 'Unbanning' },
  'reset-hwid': { title: 'Reset HWID of', past: 'reset', now: 'Resetting' },
  delete: { title: 'Delete', past: 'deleted', now: 'Deleting' },
}

export interface BulkDialogProps extends BulkEnd {
  of: BulkNoun<BulkRow>
  action: BulkAction
  rows: BulkRow[]
}

/** Confirms the action, runs it and lists the rows that failed. */
export function BulkDialog({ of, action, rows: selected, onSelect, onClose }: BulkDialogProps) {
  const bulk = useBulk({
    rows: affectedRows(of, action, selected),
    change: (batch, { idempotencyKey, extension, reason }) =>
      of.change({ action, ids: batch.map(({ _id }) => _id), reason, ...extension }, idempotencyKey),
    onDone: (rows, changes) => toastDone(of, action, rows, changes),
    onSelect,
    onClose,
  })
  const [reason, setReason] = useState('')
  const { rows, busy } = bulk
  const apps = useAppsOf(rows)
  if (rows.length === 0) return null

  const amount = amountOf(rows.length, of.noun)
  const { title, past, now } = verbs[action]
  const progress = bulk.progress && <WorkProgress label={`${now} ${of.noun}s`} {...bulk.progress} />
  if (bulk.failed.length > 0) {
    return (
      <BulkFailures
        title={`${bulk.done.length} of ${amount} ${past}`}
        failed={bulk.failed.map(({ row, reason }) => ({ id: row._id, label: of.label(row), reason }))}
        onRetry={bulk.retry}
        busy={busy}
        onClose={bulk.finish}
      >
        {progress}
      </BulkFailures>
    )
  }
  if (action === 'extend') {
    const { shorten, unchanged, submitLabel, note } = of.extension(rows)
    const withoutEnd = rows.filter(({ expiresAt }) => expiresAt === null).length
    return (
      <TimeDialog
        title={(isAdding) =>
          `${title} ${amountOf(isAdding ? rows.length - withoutEnd : rows.length, of.noun)}`
        }
        ends={rows.map(({ expiresAt }) => expiresAt)}
        max={longestExtension}
        shorten={{ ...shorten, label: rows.length === 1 ? shorten.label : 'Shorten them too' }}
        neverWarning={oldProgramsWarningOf(apps)}
        submitLabel={submitLabel}
        busy={busy}
        onSubmit={(time) => bulk.start({ extension: toExtension(time) })}
        note={(change) =>
          change === 'add' &&
          withoutEnd > 0 && <p className="text-[0.8125rem] text-fg-muted">{unchanged(withoutEnd)}</p>
        }
        onClose={onClose}
      >
        {note && <p className="text-[0.8125rem] text-fg-muted">{note}</p>}
        {progress}
      </TimeDialog>
    )
  }
  const { description, confirmLabel, loss, note, inUse = 0 } = of.questions[action](rows)
  const others = selected.length - rows.length
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`${title} ${amount}?`}
      description={description}
      confirmLabel={confirmLabel}
      loss={loss}
      tone={action === 'ban' || action === 'delete' ? 'danger' : 'neutral'}
      typed={action === 'delete' ? typedNumber(rows.length, inUse) : undefined}
      busy={busy}
      onConfirm={() => bulk.start(action === 'ban' ? { reason } : {})}
    >
      {action === 'ban' && <ReasonField value={reason} onChange={setReason} />}
      {others > 0 && (
        <p className="text-fg-muted">
          {`${amountOf(others, 'other selected one is', 'other selected ones are')} ${action === 'ban' ? 'already banned' : 'not banned'}.`}
        </p>
      )}
      {note}
      {progress}
    </ConfirmDialog>
  )
}

function toastDone(
  of: BulkNoun<BulkRow>,
  action: BulkAction,
  rows: BulkRow[],
  { changed, undo, extension }: BulkChanges,
) {
  if (extension && changed === 0) {
    toast.info('Nothing Changed', { description: 'All of them end later, or never.', ...of.undo(undo) })
    return
  }
  const { title, description } = of.done[action](amountOf(rows.length, of.noun), rows)
  toast.success(extension && 'expiresAt' in extension ? 'Expiry Changed' : title, {
    description: extension ? extendedText(changed, of.noun, extension) : description,
    ...of.undo(undo),
  })
}
