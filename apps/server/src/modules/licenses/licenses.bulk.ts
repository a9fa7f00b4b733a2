import type { BulkLicenseAction, License } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { LicenseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { extendLicenses } from '../entitlements/entitlements.service.ts'
import { lockWithUsersLicenses } from '../entitlements/license-locks.ts'
import { movePauses } from '../entitlements/pauses.ts'
import { usersOf } from './licenses.access.ts'
import { changeBans } from './licenses.change.ts'
import * as repo from './licenses.repo.ts'
import { deleteAndExpireUsers } from './licenses.service.ts'
import { toLicense } from './licenses.view.ts'

export interface BulkChange<Action> {
  action: Action
  ids: readonly string[]
  /** Required for `extend`. */
  days?: number | undefined
}

/**
 * Changes or deletes all or none; 404 if one is missing. Returns the remaining ones. Extending leaves out what never
 * expires or was not started.
 */
export async function changeLicenses(
  ctx: Ctx,
  actor: VendorActor,
  change: BulkChange<BulkLicenseAction>,
): Promise<{ changed: number; licenses: License[] }> {
  const ids = [...new Set(change.ids)].sort()
  return ctx.tx(
    actor,
    async (write) => {
      await lockWithUsersLicenses(write.tx, actor, ids)
      const locked = await repo.lockLicenses(write.tx, actor, ids)
      if (locked.length < ids.length) throw problem('not_found')
      const changed = await apply(write, actor, { ...change, ids }, locked)
      const rows = await repo.listById(write.tx, actor, ids)
      return { changed, licenses: rows.map((row) => toLicense(row, write.now)) }
    },
    { rows: ids.length, isPatient: true },
  )
}

async function apply(
  write: WriteTransaction,
  actor: VendorActor,
  { action, ids, days = 0 }: BulkChange<BulkLicenseAction>,
  locked: readonly LicenseRow[],
): Promise<number> {
  const { tx, now } = write
  switch (action) {
    case 'extend': {
      await movePauses(tx, actor, usersOf(locked), now)
      const extended = await extendLicenses(tx, actor, ids, days, now)
      write.recordByApp('licenses.extended', locked, (ids) => ({ ids, days }), extended)
      return extended.length
    }
    case 'ban':
      await changeBans(write, actor, locked, true)
      write.recordByApp('licenses.banned', locked, (ids) => ({ ids }))
      return ids.length
    case 'unban':
      await changeBans(write, actor, locked, false)
      write.recordByApp('licenses.unbanned', locked, (ids) => ({ ids }))
      return ids.length
    case 'delete':
      await deleteAndExpireUsers(tx, actor, ids, now)
      write.recordByApp('licenses.deleted', locked, (ids) => ({ ids }))
      return ids.length
  }
}
