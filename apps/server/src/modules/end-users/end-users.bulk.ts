import type { BulkClientAction, Client } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { freeAllDevices } from '../devices/devices.access.ts'
import { freeLeasedSeats } from '../devices/leased-places.access.ts'
import { updateEndUsers } from '../entitlements/end-user-rows.ts'
import { extendEndUsers, freeLicensesOf } from '../entitlements/entitlements.service.ts'
import { lockLicensesOf } from '../entitlements/license-locks.ts'
import { movePauses } from '../entitlements/pauses.ts'
import type { BulkChange } from '../licenses/licenses.bulk.ts'
import { getLimits } from '../owners/owners.service.ts'
import { endProgramSessionsOf } from '../sessions/program-sessions.access.ts'
import { reserveExtension } from './end-users.limit.ts'
import * as repo from './end-users.repo.ts'
import { toEndUser } from './end-users.service.ts'

/**
 * Changes or deletes all or none; 404 if one is missing. Returns the remaining ones. Extending leaves out those that
 * never expire.
 */
export async function changeEndUsers(
  ctx: Ctx,
  actor: VendorActor,
  change: BulkChange<BulkClientAction>,
): Promise<{ changed: number; clients: Client[] }> {
  const ids = [...new Set(change.ids)].sort()
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  return ctx.tx(
    actor,
    async (write) => {
      const { tx, now } = write
      const found = await repo.listById(tx, actor, ids)
      if (found.length < ids.length) throw problem('not_found')
      // Lock licenses before end users, as everywhere; end users deleted meanwhile are then missing below.
      await lockLicensesOf(tx, actor, ids)
      if ((await repo.lockEndUsers(tx, actor, ids)) < ids.length) throw problem('not_found')
      if (change.action === 'extend') await reserveExtension(tx, actor, ids, maxLicensesPerApp, now)
      const changed = await apply(write, actor, { ...change, ids }, found)
      const rows = await repo.listById(tx, actor, ids)
      return { changed, clients: rows.map((row) => toEndUser(row, now)) }
    },
    { rows: ids.length, isPatient: true },
  )
}

async function apply(
  write: WriteTransaction,
  actor: VendorActor,
  { action, ids, days = 0 }: BulkChange<BulkClientAction>,
  found: readonly repo.EndUserView[],
): Promise<number> {
  const { tx, now } = write
  switch (action) {
    case 'extend': {
      await movePauses(tx, actor, ids, now)
      const extended = await extendEndUsers(tx, actor, ids, days, now)
      write.recordByApp('end_users.extended', found, (ids) => ({ ids, days }), extended)
      return extended.length
    }
    case 'ban':
      await updateEndUsers(tx, actor, ids, { banned: 1 })
      write.recordByApp('end_users.banned', found, (ids) => ({ ids }))
      return ids.length
    case 'unban':
      await updateEndUsers(tx, actor, ids, { banned: 0, ban_reason: null })
      write.recordByApp('end_users.unbanned', found, (ids) => ({ ids }))
      return ids.length
    case 'reset-hwid':
      await freeLeasedSeats(tx, actor, ids)
      await freeAllDevices(tx, actor, ids)
      write.recordByApp('end_users.hwid_reset', found, (ids) => ({ ids }))
      return ids.length
    case 'delete':
      await movePauses(tx, actor, ids, now)
      await freeLeasedSeats(tx, actor, ids)
      await freeLicensesOf(tx, actor, ids, now)
      await endProgramSessionsOf(tx, ids)
      await repo.deleteEndUsers(tx, actor, ids, now)
      write.recordByApp('end_users.deleted', found, (ids) => ({ ids }))
      return ids.length
  }
}
