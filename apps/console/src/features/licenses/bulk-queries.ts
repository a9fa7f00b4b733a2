import type { BulkLicenseAction, License } from '@keyward/contract'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { extendedText } from '../../lib/format/extension.ts'
import { amountOf } from '../../lib/format/words.ts'
import { type BulkChanges, type BulkEnd, type BulkRequest, useBulk } from '../../lib/list/use-bulk.ts'
import { toast } from '../../ui/toast.tsx'
import { undoLicenses } from './queries.ts'

const successTitles: Record<BulkLicenseAction, string> = {
  extend: 'Licenses Extended',
  ban: 'Licenses Banned',
  unban: 'Licenses Unbanned',
  delete: 'Licenses Deleted',
}

export function useBulkLicenses(action: BulkLicenseAction, licenses: License[], end: BulkEnd) {
  return useBulk<License>({
    ...end,
    rows: licenses,
    change: (rows, request) => changeAll(action, rows, request),
    onDone: (rows, changes) => toastSuccess(action, rows, changes),
  })
}

const changeAll = (action: BulkLicenseAction, licenses: License[], request: BulkRequest) =>
  call(wire.bulk.licenses, {
    body: { action, ids: licenses.map(({ _id }) => _id), reason: request.reason, ...request.extension },
    idempotencyKey: request.idempotencyKey,
  })

function toastSuccess(
  action: BulkLicenseAction,
  licenses: License[],
  { changed, undo, extension }: BulkChanges,
) {
  const amount = amountOf(licenses.length, 'license')
  const descriptions: Record<BulkLicenseAction, string> = {
    extend: extension ? extendedText(changed, 'license', extension) : '',
    ban: `Programs that use ${licenses.length === 1 ? 'it' : 'them'} are now rejected: ${amount}.`,
    unban: `${amount} can be used again.`,
    delete: `${amount} permanently deleted.`,
  }
  if (extension && changed === 0) {
    toast.info('Nothing Changed', { description: 'All of them end later, or never.' })
    return
  }
  const isNewEnd = extension && 'expiresAt' in extension
  toast.success(isNewEnd ? 'Expiry Changed' : successTitles[action], {
    description: descriptions[action],
    ...undoLicenses(undo),
  })
}
