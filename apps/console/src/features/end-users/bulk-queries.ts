import type { BulkClientAction, Client } from '@keyward/contract'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api.ts'
import { changeInBatches } from '../../lib/bulk.ts'
import { useBulk } from '../../lib/use-bulk.ts'
import { wire } from '../../lib/wire.ts'
import { amountOf } from '../../lib/words.ts'
import { toast } from '../../ui/toast.tsx'
import { refreshEndUsers } from './queries.ts'

const successTitles: Record<BulkClientAction, string> = {
  extend: 'Subscriptions Extended',
  ban: 'Users Banned',
  unban: 'Users Unbanned',
  'reset-hwid': 'HWIDs Reset',
  delete: 'Users Deleted',
}

export function useBulkEndUsers(action: BulkClientAction) {
  const client = useQueryClient()
  const { run, ...state } = useBulk<Client>(() => refreshEndUsers(client))
  const change = (users: Client[], days?: number) =>
    run({ rows: users, change: (rows) => changeAll(action, rows, days) })
  /** What was done, and the way back where there is one. */
  const say = (users: Client[], days?: number) => tell(client, action, users, days)
  return { ...state, change, say }
}

const changeAll = (action: BulkClientAction, users: Client[], days?: number) =>
  call(wire.bulk.clients, { body: { action, ids: users.map(({ _id }) => _id), days } })

/** Bans alone can be undone: the expiry, the hardware lock and the account that were are not known to the server. */
function tell(client: QueryClient, action: BulkClientAction, users: Client[], days = 0) {
  const amount = amountOf(users.length, 'end user')
  const said: Record<BulkClientAction, string> = {
    extend: `${amount} got ${amountOf(days, 'more day')}.`,
    ban: `${amount} refused from now on.`,
    unban: `${amount} can sign in again.`,
    'reset-hwid': `${amount} can sign in from a different device.`,
    delete: `${amount} permanently deleted.`,
  }
  const opposite = action === 'ban' ? 'unban' : action === 'unban' ? 'ban' : undefined
  toast.success(successTitles[action], {
    description: said[action],
    ...(opposite && {
      duration: 10_000,
      action: { label: 'Undo', onClick: () => void putBack(client, users, opposite) },
    }),
  })
}

async function putBack(client: QueryClient, users: Client[], action: 'ban' | 'unban') {
  const id = toast.loading('Undoing', { description: amountOf(users.length, 'end user') })
  const { done, failed } = await changeInBatches({
    rows: users,
    batchSize: 200,
    change: (rows) => changeAll(action, rows),
  })
  refreshEndUsers(client)
  if (failed.length === 0) {
    toast.success('Undone', { id, description: `${amountOf(done.length, 'end user')} as before.` })
  } else {
    toast.error('Undo Failed', {
      id,
      description: `${failed.length} of ${amountOf(users.length, 'end user')} could not be put back: ${failed[0]?.why}`,
    })
  }
}
