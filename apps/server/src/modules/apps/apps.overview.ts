import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import { countClients, deleteClientsInSlices } from '../clients/clients.service.ts'
import { countLicenses, deleteLicensesInSlices } from '../licenses/licenses.service.ts'
import * as repo from './apps.repo.ts'
import { getApp, recordApp } from './apps.service.ts'

/** What deleting an app would remove. */
export async function deletionPreview(ctx: Ctx, scope: OwnerScope, idOrAppId: string) {
  const stats = await appStats(ctx, scope, idOrAppId)
  return { resellers: stats.totalResellers, licenses: stats.totalLicenses, endUsers: stats.totalClients }
}

export async function appStats(ctx: Ctx, scope: OwnerScope, idOrAppId: string) {
  const { id } = await getApp(ctx.db, scope, idOrAppId)
  const licenses = await countLicenses(ctx, scope, id)
  const clients = await countClients(ctx, scope, id)
  return {
    totalLicenses: licenses.total,
    activeLicenses: licenses.active,
    unusedLicenses: licenses.unused,
    expiredLicenses: licenses.expired,
    bannedLicenses: licenses.banned,
    totalResellers: await repo.countResellers(ctx.db, scope, id),
    totalClients: clients.total,
  }
}

/** Deletes an app; its many rows go first and in slices, so that nobody else waits for them. */
export async function deleteApp(ctx: Ctx, scope: OwnerScope, idOrAppId: string): Promise<void> {
  const { id } = await getApp(ctx.db, scope, idOrAppId)
  // Licenses first, which ends their users' time: whatever interrupts this leaves no license used by nobody.
  await deleteLicensesInSlices(ctx, scope, { appId: id })
  await deleteClientsInSlices(ctx, id)
  const now = ctx.clock.now()
  await ctx.tx(async (tx) => {
    if (!(await repo.deleteApp(tx, scope, id))) throw problem('not_found')
    await recordApp(tx, scope, now, 'app.deleted', id)
  })
}
