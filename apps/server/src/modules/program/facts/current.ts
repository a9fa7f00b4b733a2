import type { Ctx } from '../../../service/ctx.ts'
import type { BlockTables } from '../../blocklist/block-tables.ts'
import { findByHash } from '../../devices/devices.access.ts'
import { deviceLimit } from '../../devices/devices.rules.ts'
import { findById } from '../../end-users/end-users.access.ts'
import { updatesUntil } from '../../entitlements/updates.rules.ts'
import { findLicenseById } from '../../licenses/licenses.access.ts'
import { toEndUserFacts, toKeyFacts } from '../sign-in/sign-in.ts'
import { type Situation, toSituation } from '../verdict/situation.ts'
import { judgeCaller } from './caller.ts'
import type { AppFacts } from './facts.ts'
import type { ProgramReads } from './reads.ts'

export interface SituationDeps {
  ctx: Pick<Ctx, 'clock' | 'db' | 'vpn'>
  reads: Pick<ProgramReads, 'app'>
  blocks: BlockTables
}

/**
 * The situation of a former refusal as it is now, for the same device and address; undefined if its end user or
 * license no longer exists. The caller has checked that the app is the owner's.
 */
export async function readSituation(
  deps: SituationDeps,
  appId: string,
  before: Situation,
  address: string | null,
): Promise<Situation | undefined> {
  const { ctx, reads } = deps
  const app = await reads.app(appId)
  if (!app) return undefined
  const { endUserId, licenseId, hwidHash } = before
  const client = endUserId === null ? undefined : await findById(ctx.db, appId, endUserId)
  const keyId = client?.license_id ?? licenseId
  const license = keyId === null ? undefined : await findLicenseById(ctx.db, appId, keyId)
  const expiresAt = client?.expires_at ?? license?.expires_at
  if (expiresAt === undefined || (endUserId !== null && !client)) return undefined
  const now = ctx.clock.now()
  const endUser = client ? toEndUserFacts(client, license) : null
  const use = endUser?.devices ?? { used: 0, limit: deviceLimit(license) }
  const found = client && hwidHash !== null ? await findByHash(ctx.db, client.id, hwidHash) : undefined
  const caller = await judgeCaller(deps, app, { hwidHash, address: address ?? '' })
  return toSituation({
    app,
    endUser,
    key: license ? toKeyFacts(license) : null,
    caller: { ...caller, blocked: caller.blocked ?? (await findEntry(deps, app, before.blockId)) },
    mustBeActivated: app.requireActivation && before.refusing.includes('notActivated'),
    updates: { releasedAt: before.releasedAt, until: updatesUntil(license) },
    expiresAt,
    device: { ...use, isSent: hwidHash !== null, isBound: found?.freed_until === null },
    now,
  })
}

/** An entry that named the machine by its parts, which no record contains, still does while it exists. */
async function findEntry({ blocks }: SituationDeps, app: AppFacts, id: string | null) {
  const table = id === null ? undefined : await blocks.get(app)
  return table?.findEntry(id ?? '') ?? null
}
