import { normalizeName } from '../../../core/ids.ts'
import { problem } from '../../../core/problem.ts'
import { deviceLimit, sentHash } from '../../devices/devices.rules.ts'
import { findByUsername, lockEndUser } from '../../end-users/end-users.access.ts'
import { addKey } from '../../end-users/end-users.added-key.ts'
import { lockLicensesOf } from '../../entitlements/license-rows.ts'
import { findFirstLicense, findLicenseById } from '../../licenses/licenses.access.ts'
import { type SignedInUser, toSessionUser } from '../checks/session.ts'
import { judgeCaller } from '../facts/caller.ts'
import { type SessionFacts, toActor } from '../facts/facts.ts'
import { factsOfRows, toEndUserFacts } from '../facts/rows.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { refuseBy } from '../verdict/refusal.ts'
import { findKey, keyUsed } from './key.ts'

/** Adds a key to an end user: its remaining time, its features, and its devices or seats if they are more. */
export async function upgrade(
  deps: ProgramDeps,
  session: SessionFacts,
  { username, licenseKey, address }: { username: string; licenseKey: string; address: string },
): Promise<SignedInUser> {
  const { ctx } = deps
  const { app } = session
  const found = await findByUsername(ctx.db, app.id, normalizeName(username))
  if (!found) throw problem('usernameNotFound')
  const license = await findKey(deps, session, { licenseKey, machine: undefined, address })
  if (license.used === 1) throw keyUsed(license)
  const caller = await judgeCaller(deps, app, {
    hwidHash: session.hwidHash && sentHash(session.hwidHash),
    readParts: session.device?.readParts,
    address,
  })
  return ctx.tx(toActor(session, address), async (write) => {
    const { tx, now } = write
    await lockLicensesOf(tx, app, { clients: [found.id], licenses: [license.id] })
    const key = await findLicenseById(tx, app.id, license.id)
    if (!key) throw problem('keyNotFound')
    const client = await lockEndUser(tx, app, found.id)
    if (!client) throw problem('usernameNotFound')
    if (key.used === 1) throw keyUsed(key)
    const first = await findFirstLicense(tx, app.id, client)
    const device = { isSent: false, isBound: false, used: 0, limit: deviceLimit(key) }
    refuseBy(factsOfRows('upgrade', { app, client, first, key, caller, device, now }).facts)
    const after = await addKey(write, app, { client, first }, key, neverExpires)
    if (!after) throw problem('keyUsed')
    const extended = await findFirstLicense(tx, app.id, client)
    return toSessionUser(toEndUserFacts(after, extended, now), now, { ...session, seatUntil: null })
  })
}

const neverExpires = () =>
  problem('never_expires', { message: 'Your license never expires. The key was not used.' })
