import type { BulkClientAction, Client } from '@keyward/contract'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { type BulkEnd, type BulkRequest, useBulk } from '../../lib/list/use-bulk.ts'
import { toast } from '../../ui/toast.tsx'
import { undoOption } from '../../ui/undo.ts'
import { refreshEndUsers } from './queries.ts'

const successTitles: Record<BulkClientAction, string> = {
  extend: 'Subscriptions Extended',
  ban: 'Users Banned',
  unban: 'Users Unbanned',
  'reset-hwid': 'HWIDs Reset',
  delete: 'Users Deleted',
}

export function useBulkEndUsers(action: BulkClientAction, users: Client[], end: BulkEnd) {
  const client = useQueryClient()
  return useBulk<Client>({
    ...end,
    rows: users,
    change: (rows, request) => changeAll(action, rows, request),
    refresh: () => refreshEndUsers(client),
    onDone: (rows, days) => toastSuccess(client, action, rows, days),
  })
}

const changeAll = (action: BulkClientAction, users: Client[], request?: BulkRequest) =>
  call(wire.bulk.clients, {
    body: { action, ids: users.map(({ _id }) => _id), days: request?.days },
    ...(request && { idempotencyKey: request.idempotencyKey }),
  })

/** Only bans can be undone: the server does not keep the old expiry, hardware lock or account. */
function toastSuccess(client: QueryClient, action: BulkClientAction, users: Client[], days = 0) {
  const amount = amountOf(users.length, 'end user')
  const descriptions: Record<BulkClientAction, string> = {
    extend: `${amount} got ${amountOf(days, 'more day')}.`,
    ban: `${amount} can no longer sign in.`,
    unban: `${amount} can sign in again.`,
    'reset-hwid': `${amount} can sign in from a different device.`,
    delete: `${amount} permanently deleted.`,
  }
  const opposite = action === 'ban' ? 'unban' : action === 'unban' ? 'ban' : undefined
  toast.success(successTitles[action], {
    description: descriptions[action],
    ...(opposite &&
      undoOption({
        rows: users,
        noun: 'end user',
        batchSize: 200,
        change: (rows) => changeAll(opposite, rows),
        refresh: () => refreshEndUsers(client),
      })),
  })
}
