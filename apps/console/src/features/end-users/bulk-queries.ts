import type { BulkClientAction, Client } from '@keyward/contract'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { extendedText } from '../../lib/format/extension.ts'
import { amountOf } from '../../lib/format/words.ts'
import { type BulkChanges, type BulkEnd, type BulkRequest, useBulk } from '../../lib/list/use-bulk.ts'
import { toast } from '../../ui/toast.tsx'
import { undoEndUsers } from './queries.ts'

const successTitles: Record<BulkClientAction, string> = {
  extend: 'Subscriptions Extended',
  ban: 'Users Banned',
  unban: 'Users Unbanned',
  'reset-hwid': 'HWIDs Reset',
  delete: 'Users Deleted',
}

export function useBulkEndUsers(action: BulkClientAction, users: Client[], end: BulkEnd) {
  return useBulk<Client>({
    ...end,
    rows: users,
    change: (rows, request) => changeAll(action, rows, request),
    onDone: (rows, changes) => toastSuccess(action, rows, changes),
  })
}

const changeAll = (action: BulkClientAction, users: Client[], request: BulkRequest) =>
  call(wire.bulk.clients, {
    body: { action, ids: users.map(({ _id }) => _id), reason: request.reason, ...request.extension },
    idempotencyKey: request.idempotencyKey,
  })

function toastSuccess(action: BulkClientAction, users: Client[], { changed, undo, extension }: BulkChanges) {
  const amount = amountOf(users.length, 'end user')
  const descriptions: Record<BulkClientAction, string> = {
    extend: extension ? extendedText(changed, 'end user', extension) : '',
    ban: `${amount} can no longer sign in.`,
    unban: `${amount} can sign in again.`,
    'reset-hwid': `${amount} can sign in from a different device.`,
    delete: `${amount} permanently deleted.`,
  }
  if (extension && changed === 0) {
    toast.info('Nothing Changed', { description: 'All of them end later, or never.' })
    return
  }
  const isNewEnd = extension && 'expiresAt' in extension
  toast.success(isNewEnd ? 'Expiry Changed' : successTitles[action], {
    description: descriptions[action],
    ...undoEndUsers(undo),
  })
}
