import { type BulkLicenseAction, type License, longestExtension } from '@keyward/contract'
import { Fragment, type ReactNode, Suspense, useState } from 'react'
import { useAppsOf } from '../../lib/api/apps.ts'
import { oldProgramsWarningOf } from '../../lib/format/ending.ts'
import { toExtension } from '../../lib/format/extension.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { amountOf } from '../../lib/format/words.ts'
import { typedNumber } from '../../lib/list/typed-number.ts'
import type { BulkEnd } from '../../lib/list/use-bulk.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { BulkFailures } from '../../ui/bulk-failures.tsx'
import { Names } from '../../ui/names.tsx'
import { ReasonField } from '../../ui/reason-field.tsx'
import { WorkProgress } from '../../ui/work-progress.tsx'
import { useBulkLicenses } from './bulk-queries.ts'

const TimeDialog = lazyNamed(() => import('../../ui/time-dialog.tsx'), 'TimeDialog')
const ConfirmDialog = lazyNamed(() => import('../../ui/confirm-dialog.tsx'), 'ConfirmDialog')

export interface BulkLicensesDialogProps extends BulkEnd {
  action: BulkLicenseAction
  licenses: License[]
}

const verbs: Record<BulkLicenseAction, { past: string; now: string }> = {
  extend: { past: 'extended', now: 'Extending' },
  ban: { past: 'banned', now: 'Banning' },
  unban: { past: 'unbanned', now: 'Unbanning' },
  delete: { past: 'deleted', now: 'Deleting' },
}

/** Confirms the action, runs it and lists the rows that failed. */
export function BulkLicensesDialog({ action, licenses, onSelect, onClose }: BulkLicensesDialogProps) {
  const bulk = useBulkLicenses(action, affected(action, licenses), { onSelect, onClose })
  const [reason, setReason] = useState('')
  const affectedRows = bulk.rows
  const apps = useAppsOf(affectedRows)
  if (affectedRows.length === 0) return null

  const amount = amountOf(affectedRows.length, 'license')
  const progress = bulk.progress && (
    <WorkProgress label={`${verbs[action].now} licenses`} {...bulk.progress} />
  )
  if (bulk.failed.length > 0) {
    return (
      <BulkFailures
        title={`${bulk.done.length} of ${amount} ${verbs[action].past}`}
        failed={bulk.failed.map(({ row, reason }) => ({ id: row._id, label: keyPrefix(row.key), reason }))}
        onRetry={bulk.retry}
        busy={bulk.busy}
        onClose={bulk.finish}
      >
        {progress}
      </BulkFailures>
    )
  }
  const used = affectedRows.filter((license) => license.used && !license.added)
  const added = affectedRows.filter((license) => license.added)
  if (action === 'extend') {
    const withoutEnd = affectedRows.filter(({ expiresAt }) => expiresAt === null).length
    return (
      <Suspense fallback={null}>
        <TimeDialog
          title={`Extend ${amount}`}
          ends={affectedRows.map(({ expiresAt }) => expiresAt)}
          max={longestExtension}
          shorten={{
            label: affectedRows.length === 1 ? 'Shorten the license' : 'Shorten them too',
            warning: 'The license expires later, or has no date yet. The new expiry shortens it.',
          }}
          neverWarning={oldProgramsWarningOf(apps)}
          submitLabel="Extend Licenses"
          busy={bulk.busy}
          onSubmit={(time) => bulk.start({ extension: toExtension(time) })}
          note={(change) =>
            change === 'add' &&
            withoutEnd > 0 && (
              <p className="text-[0.8125rem] text-fg-muted">
                {`${amountOf(withoutEnd, 'never expires or was not used yet, and stays', 'never expire or were not used yet, and stay')} unchanged.`}
              </p>
            )
          }
          onClose={onClose}
        >
          {used.length > 0 && (
            <p className="text-[0.8125rem] text-fg-muted">
              {`${amountOf(used.length, 'is', 'are')} in use. Their end users get the same expiry.`}
            </p>
          )}
          {progress}
        </TimeDialog>
      </Suspense>
    )
  }
  const texts = {
    ban: {
      title: `Ban ${amount}?`,
      description: `Programs that use ${affectedRows.length === 1 ? 'it' : 'them'} are rejected on their next call, and offline ones when their lease or activation file ends. You can lift the ban at any time.`,
      confirmLabel: 'Ban Licenses',
      loss: sentences(
        used.length > 0 && <>{usersOf(used)} shut out until you lift the ban.</>,
        added.length > 0 && `${addedOf(added)} until you lift the ban.`,
      ),
    },
    unban: {
      title: `Unban ${amount}?`,
      description: 'They can be used again, unless they have expired.',
      confirmLabel: 'Unban Licenses',
      loss: undefined,
    },
    delete: {
      title: `Delete ${amount}?`,
      description: `${affectedRows.length === 1 ? 'The key stops' : 'The keys stop'} working immediately. This action cannot be undone.`,
      confirmLabel: 'Delete Licenses',
      loss: sentences(
        used.length > 0 && (
          <>
            {amountOf(used.length, 'is', 'are')} in use{namesOf(used)}. The end users stay in your list, but
            expire immediately and can no longer sign in. Programs that run offline go on until their lease or
            activation file ends.
          </>
        ),
        added.length > 0 && `${addedOf(added)}.`,
      ),
    },
  }[action]
  return (
    <Suspense fallback={null}>
      <ConfirmDialog
        onClose={onClose}
        {...texts}
        tone={action === 'unban' ? 'neutral' : 'danger'}
        typed={action === 'delete' ? typedNumber(affectedRows.length, used.length + added.length) : undefined}
        busy={bulk.busy}
        onConfirm={() => bulk.start(action === 'ban' ? { reason } : {})}
      >
        {action === 'ban' && <ReasonField value={reason} onChange={setReason} />}
        {affectedRows.length < licenses.length && (
          <p className="text-fg-muted">
            {`${amountOf(licenses.length - affectedRows.length, 'other selected one is', 'other selected ones are')} ${action === 'ban' ? 'already banned' : 'not banned'}.`}
          </p>
        )}
        {progress}
      </ConfirmDialog>
    </Suspense>
  )
}

/** Leaves out rows that already are in the target state, so that Undo does not change them. */
function affected(action: BulkLicenseAction, licenses: License[]) {
  if (action === 'ban') return licenses.filter((license) => !license.banned)
  if (action === 'unban') return licenses.filter((license) => license.banned)
  return licenses
}

function namesOf(used: License[]) {
  const names = used.flatMap(({ usedBy }) => usedBy?.username ?? [])
  return (
    names.length > 0 && (
      <>
        {' by '}
        <Names names={names} />
      </>
    )
  )
}

function usersOf(used: License[]) {
  const names = used.flatMap(({ usedBy }) => usedBy?.username ?? [])
  if (names.length === 0) return amountOf(used.length, 'end user is', 'end users are')
  return (
    <>
      <Names names={names} /> {names.length === 1 ? 'is' : 'are'}
    </>
  )
}

const addedOf = (added: License[]): string =>
  `${amountOf(added.length, 'was', 'were')} added by an upgrade: the end users lose what it added`

function sentences(...parts: (ReactNode | false)[]): ReactNode {
  const said = parts.filter((part) => part !== false)
  if (said.length === 0) return undefined
  return said.map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the sentences never change places.
    <Fragment key={at}>
      {at > 0 && ' '}
      {part}
    </Fragment>
  ))
}
