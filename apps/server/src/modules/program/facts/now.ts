import { checksOf, type ProgramCall } from '@keyward/contract'
import type { Ctx } from '../../../service/ctx.ts'
import type { BlockTables } from '../../blocklist/block-tables.ts'
import { findByHash } from '../../devices/devices.access.ts'
import { findById } from '../../end-users/end-users.access.ts'
import { findLicenseById } from '../../licenses/licenses.access.ts'
import { type Situation, toSituation } from '../verdict/refusal.ts'
import { judgeCaller } from './caller.ts'
import type { AppFacts } from './facts.ts'
import type { ProgramReads } from './reads.ts'
import { factsOfRows } from './rows.ts'

export interface SituationDeps {
  ctx: Pick<Ctx, 'clock' | 'db' | 'vpn'>
  reads: Pick<ProgramReads, 'app'>
  blocks: BlockTables
}

/** What the activity log has kept of a refused call. */
export interface RefusedCall {
  appId: string
  before: Situation & { call: ProgramCall }
  address: string | null
}

/**
 * The situation of a refused call as it is now, for the same device and address; undefined if its end user or license
 * no longer exists. The caller has checked that the app is the owner's.
 */
export async function readSituation(
  deps: SituationDeps,
  { appId, before, address }: RefusedCall,
): Promise<Situation | undefined> {
  const { ctx, reads } = deps
  const app = await reads.app(appId)
  if (!app) return undefined
  const { call, endUserId, licenseId, hwidHash } = before
  const client = endUserId === null ? undefined : await findById(ctx.db, appId, endUserId)
  const firstId = client?.license_id ?? null
  const first = firstId === null ? undefined : await findLicenseById(ctx.db, appId, firstId)
  const namesKey = !client || checksOf[call].noActiveSubs === 'key'
  const isOther = namesKey && licenseId !== null && licenseId !== firstId
  const license = isOther ? await findLicenseById(ctx.db, appId, licenseId) : first
  if ((endUserId !== null && !client) || (isOther && !license)) return undefined
  const found = client && hwidHash !== null ? await findByHash(ctx.db, client.id, hwidHash) : undefined
  const caller = await judgeCaller(deps, app, { hwidHash, address: address ?? '' })
  const { facts } = factsOfRows(call, {
    app,
    client,
    first,
    key: license,
    caller: { ...caller, blocked: caller.blocked ?? (await findBlock(deps, app, before.blockId)) },
    version: versionOf(before, app),
    device: {
      isSent: hwidHash !== null,
      isBound: found?.freed_until === null,
      isAnother: before.device === 'another',
    },
    isTrialStarted: endUserId !== null || before.refusing.includes('trialUsed'),
    now: ctx.clock.now(),
  })
  return toSituation(facts)
}

/** Earlier versions stored when the program's version was released. */
function versionOf({ version, releasedAt = null }: Situation, { releases }: AppFacts): string | null {
  if (version !== undefined || releasedAt === null) return version ?? null
  return [...releases.named.values()].find((one) => one.releasedAt === releasedAt)?.version ?? null
}

/** An entry of the block list that named the machine by its parts, which no record contains, still does while it exists. */
async function findBlock({ blocks }: SituationDeps, app: AppFacts, id: string | null) {
  const table = id === null ? undefined : await blocks.get(app)
  return table?.findEntry(id ?? '') ?? null
}
