import { type BulkClientAction, type Client, longestExtension } from '@keyward/contract'
import { useState } from 'react'
import { useAppsOf } from '../../lib/api/apps.ts'
import { oldProgramsWarningOf } from '../../lib/format/ending.ts'
import { toExtension } from '../../lib/format/extension.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { amountOf } from '../../lib/format/words.ts'
import { typedNumber } from '../../lib/list/typed-number.ts'
import type { BulkEnd } from '../../lib/list/use-bulk.ts'
import { BulkFailures } from '../../ui/bulk-failures.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Names } from '../../ui/names.tsx'
import { ReasonField } from '../../ui/reason-field.tsx'
import { TimeDialog } from '../../ui/time-dialog.tsx'
import { WorkProgress } from '../../ui/work-progress.tsx'
import { useBulkEndUsers } from './bulk-queries.ts'
import { OfflineNote } from './offline-note.tsx'

export interface BulkEndUsersDialogProps extends BulkEnd {
  action: BulkClientAction
  users: Client[]
}

const verbs: Record<BulkClientAction, { past: string; now: string }> = {
  extend: { past: 'extended', now: 'Extending' },
  ban: { past: 'banned', now: 'Banning' },
  unban: { past: 'unbanned', now: 'Unbanning' },
  'reset-hwid': { past: 'reset', now: 'Resetting' },
  delete: { past: 'deleted', now: 'Deleting' },
}

/** Confirms the action, runs it and lists the rows that failed. */
export function BulkEndUsersDialog({ action, users, onSelect, onClose }: BulkEndUsersDialogProps) {
  const bulk = useBulkEndUsers(action, affected(action, users), { onSelect, onClose })
  const [reason, setReason] = useState('')
  const affectedRows = bulk.rows
  const apps = useAppsOf(affectedRows)
  if (affectedRows.length === 0) return null

  const amount = amountOf(affectedRows.length, 'end user')
  const progress = bulk.progress && (
    <WorkProgress label={`${verbs[action].now} end users`} {...bulk.progress} />
  )
  if (bulk.failed.length > 0) {
    return (
      <BulkFailures
        title={`${bulk.done.length} of ${amount} ${verbs[action].past}`}
        failed={bulk.failed.map(({ row, reason }) => ({
          id: row._id,
          label: <bdi>{row.username}</bdi>,
          reason,
        }))}
        onRetry={bulk.retry}
        busy={bulk.busy}
        onClose={bulk.finish}
      >
        {progress}
      </BulkFailures>
    )
  }
  const withKey = affectedRows.filter(({ licenseKey }) => licenseKey !== null).length
  if (action === 'extend') {
    const withoutEnd = affectedRows.filter(({ expiresAt }) => expiresAt === null).length
    return (
      <TimeDialog
        title={`Extend ${amount}`}
        ends={affectedRows.map(({ expiresAt }) => expiresAt)}
        max={longestExtension}
        shorten={{
          label: affectedRows.length === 1 ? 'Shorten the subscription' : 'Shorten them too',
          warning: 'The subscription ends later or never. The new expiry shortens it.',
        }}
        neverWarning={oldProgramsWarningOf(apps)}
        submitLabel="Extend Subscriptions"
        busy={bulk.busy}
        onSubmit={(time) => bulk.start({ extension: toExtension(time) })}
        note={(change) =>
          change === 'add' &&
          withoutEnd > 0 && (
            <p className="text-[0.8125rem] text-fg-muted">
              {`${amountOf(withoutEnd, 'never expires, and stays', 'never expire, and stay')} unchanged.`}
            </p>
          )
        }
        onClose={onClose}
      >
        {withKey > 0 && <p className="text-[0.8125rem] text-fg-muted">Their licenses get the same expiry.</p>}
        {progress}
      </TimeDialog>
    )
  }
  const active = affectedRows.filter(({ status }) => status === 'active').length
  const names = <Names names={affectedRows.map(({ username }) => username)} />
  const texts = {
    ban: {
      title: `Ban ${amount}?`,
      description: <>The next call from {names} is rejected. You can lift the ban at any time.</>,
      confirmLabel: 'Ban Users',
    },
    unban: {
      title: `Unban ${amount}?`,
      description: <>{names} can sign in again, as long as the subscription has not expired.</>,
      confirmLabel: 'Unban Users',
    },
    'reset-hwid': {
      title: `Reset HWID of ${amount}?`,
      description: (
        <>
          This clears the hardware lock of {names} and allows login from a different device. The lock binds to
          the next device that signs in. An open session can run on until another device takes its place.
        </>
      ),
      confirmLabel: 'Reset HWIDs',
    },
    delete: {
      title: `Delete ${amount}?`,
      description: (
        <>
          The accounts of {names}, their passwords and their hardware locks are deleted. This action cannot be
          undone.
        </>
      ),
      confirmLabel: 'Delete Users',
    },
  }[action]
  return (
    <ConfirmDialog
      onClose={onClose}
      {...texts}
      loss={
        action === 'delete' && withKey > 0
          ? `${withKey === 1 ? 'One license key becomes' : `The keys of ${formatNumber(withKey)} of them become`} free. Anyone who has such a key can register with it again until it expires.`
          : undefined
      }
      tone={action === 'ban' || action === 'delete' ? 'danger' : 'neutral'}
      typed={action === 'delete' ? typedNumber(affectedRows.length, active) : undefined}
      busy={bulk.busy}
      onConfirm={() => bulk.start(action === 'ban' ? { reason } : {})}
    >
      {action === 'ban' && <ReasonField value={reason} onChange={setReason} />}
      {affectedRows.length < users.length && (
        <p className="text-fg-muted">
          {`${amountOf(users.length - affectedRows.length, 'other selected one is', 'other selected ones are')} ${action === 'ban' ? 'already banned' : 'not banned'}.`}
        </p>
      )}
      {action !== 'unban' && <OfflineNote users={affectedRows} />}
      {progress}
    </ConfirmDialog>
  )
}

/** Leaves out rows that already are in the target state, so that Undo does not change them. */
function affected(action: BulkClientAction, users: Client[]) {
  if (action === 'ban') return users.filter(({ ban }) => !ban)
  if (action === 'unban') return users.filter(({ ban }) => ban)
  return users
}
