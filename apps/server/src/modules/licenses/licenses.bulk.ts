import type { BulkLicenseAction, License } from '@keyward/contract'
import { auditOwner } from '../../core/audit.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import type { Tx } from '../../db/open.ts'
import { extendLicenses } from '../subscriptions/subscriptions.service.ts'
import * as repo from './licenses.repo.ts'
import { deleteForGood, toLicense } from './licenses.service.ts'

export interface BulkChange<Action> {
  action: Action
  ids: readonly string[]
  /** For extending. */
  days?: number | undefined
}

/** Changes or deletes all of them or none; 404 when one is not there. Answers those that are left. */
export async function changeLicenses(
  ctx: Ctx,
  scope: OwnerScope,
  given: BulkChange<BulkLicenseAction>,
): Promise<{ changed: number; licenses: License[] }> {
  const ids = [...new Set(given.ids)].sort()
  const { action, days } = given
  const now = ctx.clock.now()
  const rows = await ctx.tx(async (tx) => {
    if ((await repo.lockLicenses(tx, scope, ids)).length < ids.length) throw problem('not_found')
    await apply(tx, scope, { ...given, ids }, now)
    await auditOwner(tx, scope, now, `licenses.bulk_${action}`, undefined, { ids, days })
    return repo.listById(tx, scope, ids)
  })
  return { changed: ids.length, licenses: rows.map((row) => toLicense(row, now)) }
}

async function apply(
  tx: Tx,
  scope: OwnerScope,
  { action, ids, days = 0 }: BulkChange<BulkLicenseAction>,
  now: number,
): Promise<void> {
  switch (action) {
    case 'extend':
      return extendLicenses(tx, ids, days, now)
    case 'ban':
      return repo.setBanned(tx, scope, ids, 1)
    case 'unban':
      return repo.setBanned(tx, scope, ids, 0)
    case 'delete':
      await deleteForGood(tx, ids, now)
  }
}
