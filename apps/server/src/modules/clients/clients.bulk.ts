import type { BulkClientAction, Client } from '@keyward/contract'
import { auditOwner } from '../../core/audit.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import type { Tx } from '../../db/open.ts'
import type { BulkChange } from '../licenses/licenses.bulk.ts'
import { extendClients, lockLicensesOf, release } from '../subscriptions/subscriptions.service.ts'
import * as repo from './clients.repo.ts'
import { toClient } from './clients.service.ts'

/** Changes or deletes all of them or none; 404 when one is not there. Answers those that are left. */
export async function changeClients(
  ctx: Ctx,
  scope: OwnerScope,
  given: BulkChange<BulkClientAction>,
): Promise<{ changed: number; clients: Client[] }> {
  const ids = [...new Set(given.ids)].sort()
  const { action, days } = given
  const now = ctx.clock.now()
  const rows = await ctx.tx(async (tx) => {
    if ((await repo.listById(tx, scope, ids)).length < ids.length) throw problem('not_found')
    // The licenses before the end users, as everywhere; then those who were deleted meanwhile are missed.
    await lockLicensesOf(tx, ids)
    if ((await repo.lockClients(tx, scope, ids)) < ids.length) throw problem('not_found')
    await apply(tx, scope, { ...given, ids }, now)
    await auditOwner(tx, scope, now, `clients.bulk_${action}`, undefined, { ids, days })
    return repo.listById(tx, scope, ids)
  })
  return { changed: ids.length, clients: rows.map((row) => toClient(row, now)) }
}

async function apply(
  tx: Tx,
  scope: OwnerScope,
  { action, ids, days = 0 }: BulkChange<BulkClientAction>,
  now: number,
): Promise<void> {
  switch (action) {
    case 'extend':
      return extendClients(tx, ids, days, now)
    case 'ban':
      return repo.updateClients(tx, ids, { banned: 1 })
    case 'unban':
      return repo.updateClients(tx, ids, { banned: 0 })
    case 'reset-hwid':
      return repo.updateClients(tx, ids, { hwid: null, hwid_hash: null })
    case 'delete':
      await release(tx, ids)
      await repo.deleteClients(tx, scope, ids)
  }
}
