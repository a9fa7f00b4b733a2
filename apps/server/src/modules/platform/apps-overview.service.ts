import { type Bans, unlimited } from '@keyward/contract'
import type { Actor, OwnerScope } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { deleteOfApp } from '../../db/deletions.ts'
import { inSlices, type Transactions, type WriteTransaction } from '../../db/index.ts'
import { tablesOf } from '../../db/owned-tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as access from '../apps/apps.access.ts'
import { getApp } from '../apps/apps.access.ts'
import type { Description } from '../description.ts'
import { countEndUsers, deleteEndUsersInSlices } from '../end-users/end-users.service.ts'
import { countLicenses, deleteLicensesInSlices } from '../licenses/licenses.service.ts'
import { getLimits } from '../owners/owners.service.ts'
import { countOnline } from '../sessions/online.access.ts'

/** What deleting an app would remove. */
export async function deletionPreview(ctx: Ctx, scope: OwnerScope, idOrAppId: string) {
  const stats = await appStats(ctx, scope, idOrAppId)
  return { resellers: stats.totalResellers, licenses: stats.totalLicenses, endUsers: stats.totalClients }
}

export async function appStats(ctx: Ctx, scope: OwnerScope, idOrAppId: string, banned?: Bans) {
  const app = await getApp(ctx.db, scope, idOrAppId)
  const { id } = app
  const { maxLicensesPerApp: max } = await getLimits(ctx, scope)
  const licenses = await countLicenses(ctx, scope, { appId: id, banned })
  const clients = await countEndUsers(ctx, scope, id)
  return {
    totalLicenses: licenses.total,
    activeLicenses: licenses.active,
    unusedLicenses: licenses.unused,
    expiredLicenses: licenses.expired,
    bannedLicenses: licenses.banned,
    totalResellers: await access.countResellers(ctx.database, scope, id),
    totalClients: clients.total,
    onlineClients: await countOnline(ctx.database, id, ctx.clock.now()),
    licensesLeft:
      max === unlimited ? null : Math.max(0, await access.readFreePlaces(ctx.db, app, max, ctx.clock.now())),
  }
}

export const appSdks = async (ctx: Ctx, scope: OwnerScope, idOrAppId: string): Promise<string[]> =>
  access.listSdks(ctx.db, (await getApp(ctx.db, scope, idOrAppId)).id)

/** What a deletion needs: modules say what an app leaves in their tables. */
export interface DeletionParts {
  ctx: Transactions
  modules: readonly Description[]
}

/** Deletes an app. Its many rows are deleted first, in slices, so that other requests are not blocked. */
export async function deleteApp(
  { ctx, modules }: DeletionParts,
  actor: Actor & OwnerScope,
  idOrAppId: string,
): Promise<void> {
  const { id, name } = await ctx.tx(actor, async (write) => {
    const app = await getApp(write.tx, actor, idOrAppId)
    write.record('app.deletion_started', app.id, { name: app.name }, app.id)
    return { id: app.id, name: app.name }
  })
  // Licenses first, which expires their end users: an interruption leaves no used license without an end user.
  await deleteLicensesInSlices(ctx, actor, { appId: id })
  await deleteEndUsersInSlices(ctx, actor, id)
  // The lowest come last: counts that triggers keep, which deletions change.
  for (const table of tablesOf(modules.toReversed())) {
    if (!table.isOfApp) continue
    await inSlices(ctx, actor, async ({ tx }, size) => ({
      found: await deleteOfApp(tx, table, id, size),
    }))
  }
  const finish = async (write: WriteTransaction) => {
    if (!(await access.deleteApp(write.tx, actor, id))) throw problem('not_found')
    for (const module of modules) await module.forgetApp?.(write, actor, id)
    write.record('app.deleted', id, { name }, id)
  }
  await ctx.tx(actor, finish, { isPatient: true })
}
