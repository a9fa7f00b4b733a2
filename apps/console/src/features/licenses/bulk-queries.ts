import type { BulkLicenseAction, License } from '@keyward/contract'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { serverNow } from '../../lib/api/server-time.ts'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { type BulkEnd, type BulkRequest, useBulk } from '../../lib/list/use-bulk.ts'
import { toast } from '../../ui/toast.tsx'
import { undoOption } from '../../ui/undo.ts'
import { refreshLicenses } from './queries.ts'

const successTitles: Record<BulkLicenseAction, string> = {
  extend: 'Licenses Extended',
  ban: 'Licenses Banned',
  unban: 'Licenses Unbanned',
  delete: 'Licenses Deleted',
}

export function useBulkLicenses(action: BulkLicenseAction, licenses: License[], end: BulkEnd) {
  const client = useQueryClient()
  return useBulk<License>({
    ...end,
    rows: licenses,
    change: (rows, request) => changeAll(action, rows, request),
    refresh: () => refreshLicenses(client),
    onDone: (rows, days) => toastSuccess(client, action, rows, days),
  })
}

const changeAll = (action: BulkLicenseAction, licenses: License[], request?: BulkRequest) =>
  call(wire.bulk.licenses, {
    body: { action, ids: licenses.map(({ _id }) => _id), days: request?.days },
    ...(request && { idempotencyKey: request.idempotencyKey }),
  })

function toastSuccess(client: QueryClient, action: BulkLicenseAction, licenses: License[], days = 0) {
  const amount = amountOf(licenses.length, 'license')
  const undo = undoOf(action, licenses)
  const descriptions: Record<BulkLicenseAction, string> = {
    extend: `${amount} got ${amountOf(days, 'more day')}.`,
    ban: `Programs that use ${licenses.length === 1 ? 'it' : 'them'} are now rejected: ${amount}.`,
    unban: `${amount} can be used again.`,
    delete: `${amount} permanently deleted.`,
  }
  toast.success(successTitles[action], {
    description: descriptions[action],
    ...(undo &&
      undoOption({ ...undo, rows: licenses, noun: 'license', refresh: () => refreshLicenses(client) })),
  })
}

/**
 * How to undo an action. Extensions of expired licenses cannot be undone, because the server rejects an expiry in the
 * past.
 */
function undoOf(action: BulkLicenseAction, licenses: License[]) {
  if (action === 'ban' || action === 'unban') {
    const opposite = action === 'ban' ? 'unban' : 'ban'
    return { batchSize: 200, change: (rows: License[]) => changeAll(opposite, rows) }
  }
  if (action === 'extend' && licenses.every(isAhead)) {
    return { batchSize: 1, change: ([license]: License[]) => restoreExpiry(license!) }
  }
  return undefined
}

const isAhead = ({ expiresAt }: License) => expiresAt !== null && Date.parse(expiresAt) > serverNow() + 60_000

const restoreExpiry = ({ _id, expiresAt }: License) =>
  call(wire.licenses.update, { params: { id: _id }, body: { expiresAt } })
