import { audit } from '../../core/audit.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { Problem } from '../../core/problem.ts'
import type { Db } from '../../db/open.ts'
import { deleteApp } from '../apps/apps.overview.ts'
import { listAppRefs } from '../apps/apps.service.ts'
import { endSessions } from '../auth/auth.service.ts'
import * as repo from './settings.repo.ts'

export interface PlatformSettings {
  pauseApplications: boolean
  hwidLock: boolean
}

export async function getSettings(db: Db, scope: OwnerScope): Promise<PlatformSettings> {
  const row = await repo.getSettings(db, scope)
  return { pauseApplications: row.pause_applications === 1, hwidLock: row.hwid_lock === 1 }
}

export async function updateSettings(
  ctx: Ctx,
  scope: OwnerScope,
  change: Partial<PlatformSettings>,
): Promise<PlatformSettings> {
  const now = ctx.clock.now()
  return ctx.tx(async (tx) => {
    await repo.updateSettings(tx, scope, change)
    await audit(tx, { ...entry(scope, now), action: 'settings.updated', detail: { ...change } })
    return getSettings(tx, scope)
  })
}

/** Deletes all that the owner's programs and customers are made of; account, plan and audit stay. */
export async function resetPlatform(ctx: Ctx, scope: OwnerScope): Promise<void> {
  for (const app of await listAppRefs(ctx.db, scope)) await deleteAppIfThere(ctx, scope, app._id)
  const now = ctx.clock.now()
  await ctx.tx(async (tx) => {
    await repo.updateSettings(tx, scope, { pauseApplications: false, hwidLock: true })
    await endSessions(tx, scope)
    await audit(tx, { ...entry(scope, now), action: 'platform.reset' })
  })
}

/** Another tab may delete the same app meanwhile; then there is nothing left to do. */
async function deleteAppIfThere(ctx: Ctx, scope: OwnerScope, id: string): Promise<void> {
  await deleteApp(ctx, scope, id).catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === 'not_found')) throw error
  })
}

const entry = (scope: OwnerScope, now: number) => ({
  ownerId: scope.ownerId,
  actor: { kind: 'owner' as const, id: scope.ownerId },
  now,
})
