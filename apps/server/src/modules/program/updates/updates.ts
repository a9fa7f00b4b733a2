import type { Artifact, BodyOf, DataOf, endpoints } from '@keyward/contract'
import { toIso } from '../../../core/clock.ts'
import { sha256 } from '../../../core/crypto.ts'
import { requireSession } from '../../../core/problem.ts'
import type { ClientRow, LicenseRow } from '../../../db/tables.ts'
import * as tokens from '../../devices/device-tokens.access.ts'
import { findById } from '../../end-users/end-users.access.ts'
import { atFirstUse, updatesUntil } from '../../entitlements/terms.rules.ts'
import { type Linked, readLinks } from '../../licenses/buy-links.ts'
import { findFirstLicense } from '../../licenses/licenses.access.ts'
import { covers, type ListedRelease, updatesOf } from '../../releases/catalog.rules.ts'
import { artifactsFor } from '../../releases/targets.rules.ts'
import { allowedUser } from '../checks/session.ts'
import { type Caller, callerOf, judgeCaller } from '../facts/caller.ts'
import type { AppFacts, SessionFacts } from '../facts/facts.ts'
import { factsOfRows } from '../facts/rows.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { findKey } from '../sign-in/key.ts'
import { readRemembered } from '../sign-in/remember.ts'
import { refuseBy } from '../verdict/refusal.ts'

type Updates = (typeof endpoints)['program']['updates']

/** The newest release that the license covers and this version may go to, and what a renewal would bring. */
export async function findUpdate(
  deps: ProgramDeps,
  session: SessionFacts,
  { channel, version, licenseKey, address, ...target }: BodyOf<Updates> & { address: string },
): Promise<DataOf<Updates>> {
  const { app } = session
  const { until, linked } = await readCoverage(deps, session, { licenseKey, address })
  const files = await deps.files.get(app)
  const wanted = { channel, version: version ?? session.version }
  let newest: ListedRelease | undefined
  for (const release of updatesOf(app.releases, wanted, deps.ctx.clock.now())) {
    const { artifacts = [], notes = null } = files.get(release.id) ?? {}
    const artifact = artifactFor(artifacts, target)
    if (artifact === undefined) continue
    newest ??= release
    if (!covers(release, until)) continue
    const { releasedAt, link, security } = release
    return {
      update: {
        version: release.version,
        releasedAt: toIso(releasedAt),
        notes,
        url: link,
        artifact,
        security,
      },
      beyond: release === newest ? null : await beyond(newest.version),
    }
  }
  return { update: null, beyond: newest ? await beyond(newest.version) : null }

  async function beyond(newer: string) {
    return { version: newer, links: await readLinks(deps.ctx, app, linked) }
  }
}

/** The artifact for a machine; null for a release without any, undefined for one that has only others. */
function artifactFor(
  artifacts: readonly Artifact[],
  target: Pick<Artifact, 'platform' | 'architecture'>,
): Artifact | null | undefined {
  if (artifacts.length === 0) return null
  return artifactsFor(artifacts, target).find(({ kind }) => kind !== 'delta')
}

/** The releases that a license gives access to. */
export interface Coverage {
  /** Releases until then, and all security fixes; null for all. */
  until: number | null
  linked: Linked
}

/** What the end user of a session may have, or who has a key while nobody has signed in. */
export async function readCoverage(
  deps: ProgramDeps,
  session: SessionFacts,
  { licenseKey, address }: { licenseKey?: string | undefined; address: string },
): Promise<Coverage> {
  if (!session.endUser && licenseKey !== undefined) {
    return coverageOfKey(deps, session.app, { licenseKey, address })
  }
  const { endUser, facts } = await allowedUser(deps, session, { call: 'updates', address })
  return { until: lastCovered(endUser, facts.now), linked: { clientId: endUser.id } }
}

/** What who has a key may have. */
export async function coverageOfKey(
  deps: ProgramDeps,
  app: AppFacts,
  { licenseKey, address }: { licenseKey: string; address: string },
): Promise<Coverage> {
  const { ctx } = deps
  const license = await findKey(deps, { app }, { licenseKey, machine: undefined, address })
  const client = license.client_id === null ? undefined : await findById(ctx.db, app.id, license.client_id)
  const caller = callerOf(undefined, address)
  if (client) return coverageOf(deps, app, { client, license, caller })
  const now = ctx.clock.now()
  // An unused key, as if it were used now.
  const used = { ...license, ...atFirstUse(license, now) }
  const judged = await judgeCaller(deps, app, caller)
  refuseBy(factsOfRows('updatesByKey', { app, key: license, caller: judged, now }).facts)
  const ends = { updatesUntil: updatesUntil(used), expiresAt: used.expires_at }
  return { until: lastCovered(ends, now), linked: { licenseId: license.id } }
}

/** What the end user of a remembered sign-in may have; the token stays as it is. */
export async function coverageOfDevice(
  deps: ProgramDeps,
  app: AppFacts,
  { token, address }: { token: string; address: string },
): Promise<Coverage> {
  const { db } = deps.ctx
  const stored = await readRemembered(deps, app, token)
  requireSession([stored.token_hash, stored.previous_hash].includes(sha256(token)))
  requireSession(await tokens.readRememberDays(db, app))
  const client = requireSession(await findById(db, app.id, stored.client_id))
  const hwidHash = (await tokens.findDeviceHash(db, app, stored.device_id)) ?? null
  return coverageOf(deps, app, { client, caller: { hwidHash, address } })
}

interface Holder {
  client: ClientRow
  /** The key that was sent; by default the first one of the end user. */
  license?: LicenseRow
  caller: Caller
}

async function coverageOf(
  deps: ProgramDeps,
  app: AppFacts,
  { client, license, caller }: Holder,
): Promise<Coverage> {
  const now = deps.ctx.clock.now()
  const first = await findFirstLicense(deps.ctx.db, app.id, client)
  const judged = await judgeCaller(deps, app, caller)
  const stored = { app, client, first, key: license, caller: judged, now }
  const { endUser, facts } = factsOfRows('updatesByKey', stored)
  refuseBy(facts)
  return { until: lastCovered(endUser, now), linked: { clientId: client.id } }
}

/** The end of the updates, or of a license that has ended before. */
function lastCovered(
  { updatesUntil: until, expiresAt }: { updatesUntil: number | null; expiresAt: number },
  now: number,
): number | null {
  return expiresAt <= now ? Math.min(until ?? expiresAt, expiresAt) : until
}
