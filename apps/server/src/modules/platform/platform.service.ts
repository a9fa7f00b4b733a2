import type { DataOf, endpoints } from '@keyward/contract'
import {
  type Actor,
  type OfOwner,
  type OwnerScope,
  type PersonActor,
  requireProof,
  type VendorActor,
} from '../../core/actor.ts'
import { Problem, problem } from '../../core/problem.ts'
import { type Db, inSlices } from '../../db/index.ts'
import type { Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { deleteAnswers } from '../../service/stored-answers.ts'
import { confirmIdentity } from '../account/account.service.ts'
import { revokeApiKeys } from '../api-keys/api-keys.access.ts'
import { listAppRefs } from '../apps/apps.access.ts'
import { deleteCustomers } from '../customers/customers.access.ts'
import { refuseFormerOwner } from '../owners/owners.service.ts'
import * as repo from '../owners/settings.access.ts'
import { deleteProfile } from '../profiles/profiles.access.ts'
import { endSessionsAt } from '../sessions/sessions.service.ts'
import { type DeletionParts, deleteApp } from './apps-overview.service.ts'

export type PlatformSettings = DataOf<typeof endpoints.settings.get>

export async function getSettings(db: Db, scope: OfOwner): Promise<PlatformSettings> {
  const row = await repo.getSettings(db, scope)
  return {
    pauseApplications: row.pause_applications === 1,
    hwidLock: row.hwid_lock === 1,
    requireSecondFactor: row.require_second_factor === 1,
  }
}

export async function updateSettings(
  ctx: Ctx,
  actor: VendorActor,
  change: Partial<PlatformSettings>,
): Promise<PlatformSettings> {
  if (change.requireSecondFactor !== undefined) {
    if (actor.kind === 'api_key') throw problem('api_key_not_allowed')
    if (!actor.isOwner) throw problem('permission_missing')
    requireProof(actor, 'always', ctx.clock.now())
  }
  return ctx.tx(actor, async (write) => {
    const before = await getSettings(write.tx, actor)
    await repo.updateSettings(write.tx, actor, change)
    const after = await getSettings(write.tx, actor)
    write.record('settings.updated', null, { before, after })
    return after
  })
}

/** Deletes apps, licenses, end users, customers, resellers, settings and stored answers, revokes all API keys; keeps the account, its plan and the audit log. */
export async function resetPlatform(
  parts: DeletionParts & { ctx: Ctx; attempts: Attempts },
  actor: PersonActor,
  proof: { password?: string | undefined; address: string },
): Promise<void> {
  const { ctx, attempts } = parts
  await confirmIdentity(ctx, attempts, actor, proof)
  await ctx.tx(actor, async (write) => {
    await refuseFormerOwner(write.tx, actor)
    // First, so that no program of the vendor adds anything meanwhile.
    await revokeApiKeys(write, actor)
    write.record('platform.reset_started', null, {})
  })
  await deleteContents(parts, actor)
  await ctx.tx(actor, async (write) => {
    await deleteProfile(write.tx, actor)
    await repo.updateSettings(write.tx, actor, { pauseApplications: false, hwidLock: true })
    await endSessionsAt(write.tx, actor)
    // The owner may have created one meanwhile.
    await revokeApiKeys(write, actor)
    write.record('platform.reset', null, {})
  })
}

/** Deletes apps with all they have, customers and stored answers, in slices. */
export async function deleteContents(parts: DeletionParts, actor: Actor & OwnerScope): Promise<void> {
  const { ctx } = parts
  let apps = await listAppRefs(ctx.db, actor)
  while (apps.length > 0) {
    for (const app of apps) await deleteAppIfThere(parts, actor, app._id)
    apps = await listAppRefs(ctx.db, actor)
  }
  await inSlices(ctx, actor, async ({ tx }, size) => ({ found: await deleteCustomers(tx, actor, size) }))
  await inSlices(ctx, actor, async ({ tx }, size) => ({ found: await deleteAnswers(tx, actor, size) }))
}

/** Ignores an app that a concurrent request has already deleted. */
async function deleteAppIfThere(parts: DeletionParts, actor: Actor & OwnerScope, id: string): Promise<void> {
  await deleteApp(parts, actor, id).catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === 'not_found')) throw error
  })
}
