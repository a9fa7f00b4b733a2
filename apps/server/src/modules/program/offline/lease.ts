import { toIsoOrNull } from '../../../core/clock.ts'
import { sha256 } from '../../../core/crypto.ts'
import { problem, requireSession } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import { findByHash } from '../../devices/devices.access.ts'
import { sentHash, toMachine } from '../../devices/devices.rules.ts'
import { leaseDevice, leaseSeat } from '../../devices/leased-places.access.ts'
import { readLeaseTerms } from '../../end-users/end-users.access.ts'
import { nextStatement } from '../../entitlements/end-user-rows.ts'
import { featuresUntil } from '../../entitlements/terms.rules.ts'
import { lockLicenseById } from '../../licenses/licenses.access.ts'
import { allowedUser } from '../checks/session.ts'
import { type SessionFacts, toActor } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { renewOrTakeSeat } from '../sessions/seats.ts'
import { refusedLater } from '../verdict/refusal.ts'
import type { VerdictFacts } from '../verdict/verdict.ts'

interface LeaseCall {
  hwid: string
  address: string
  /** The keys that the program pins, as it sent them. */
  pinned: string | undefined
}

/**
 * Issues a signed statement with which the program may run offline on this device until it ends. The device must be the
 * one that signed in. Its place and its seat stay taken until then.
 */
export async function issueLease(
  deps: ProgramDeps,
  session: SessionFacts,
  { hwid, address, pinned }: LeaseCall,
): Promise<{ lease: string }> {
  const { app, hwidHash } = session
  const isAnother = hwidHash === null || !(await isOfSession(deps, session, hwid))
  const { endUser, facts } = await allowedUser(deps, session, { call: 'lease', address, isAnother })
  const { floating } = endUser
  const variables = await deps.variables.offline(app, endUser)
  const claims = await deps.ctx.tx(toActor(session, address), async (write) => {
    const { tx, now } = write
    if (floating) await lockLicenseById(tx, app.id, floating.licenseId)
    const terms = requireSession(await readLeaseTerms(tx, app))
    const seatUntil = await renewOrTakeSeat(write, session, { endUser, hwidHash, facts })
    // A floating license has no grace beyond the seat: others may take it then, also if this program is offline.
    const times = toLeaseTimes(terms, Math.min(endUser.expiresAt, seatUntil ?? endUser.expiresAt), now)
    const until = times.graceUntil * 1000
    const seq = requireSession(await nextStatement(tx, app, endUser.id, { column: 'lease_until', until }))
    if (floating && hwidHash !== null) await leaseSeat(tx, floating.licenseId, hwidHash, until)
    if (session.device) await holdDevice(write, session, { id: session.device.id, until, facts })
    write.record('end_user.lease_issued', endUser.id, { until }, app.id)
    return { ...times, seq, ...featuresUntil(endUser, times.graceUntil) }
  })
  const subject = { iss: 'keyward', aud: app.appId, sub: endUser.id, hwid: sha256(hwid) }
  const carried = Object.keys(variables).length > 0 ? { variables } : {}
  return { lease: await deps.signer.signLease(app, pinned, { ...subject, ...claims, ...carried }) }
}

/** Whether a hardware id is that of the machine that signed in: without white space at its ends they are equal. */
async function isOfSession(
  { ctx }: ProgramDeps,
  { app, endUser, hwidHash }: SessionFacts,
  hwid: string,
): Promise<boolean> {
  const machine = toMachine(app.appId, hwid, undefined)
  const signedIn = hwidHash && sentHash(hwidHash)
  if (!machine || !signedIn) return false
  if ([machine.hash, machine.sentHash].includes(signedIn)) return true
  const device = endUser && (await findByHash(ctx.db, endUser.id, hwidHash))
  return device?.hwid.trim() === hwid.trim()
}

/** Holds the device's place until the lease ends, unless it was freed meanwhile or has changed since another lease. */
async function holdDevice(
  { tx, now }: WriteTransaction,
  { app, endUser, hwidHash }: SessionFacts,
  { id, until, facts }: { id: string; until: number; facts: VerdictFacts },
): Promise<void> {
  if (!endUser || hwidHash === null) return
  if (await leaseDevice(tx, app, { id, hwidHash }, until, now)) return
  const device = await findByHash(tx, endUser.id, hwidHash)
  if (!device || device.id !== id || device.freed_until !== null) throw refusedLater('hwidMismatch', facts)
  throw problem('device_leased', { details: { until: toIsoOrNull(device.lease_until) } })
}

/**
 * The times of a lease in seconds since 1970, as JWS claims. `end` is when the end user's access ends, grace days
 * included, or its seat, in milliseconds. A program renews from `refreshAfter` on, works until `exp`, and warns until `graceUntil`.
 */
function toLeaseTimes(hours: { leaseHours: number; graceHours: number }, end: number, now: number) {
  const iat = Math.floor(now / 1000)
  const last = Math.floor(end / 1000)
  const exp = Math.min(iat + hours.leaseHours * 3600, last)
  return {
    iat,
    exp,
    refreshAfter: iat + Math.floor((exp - iat) / 2),
    graceUntil: Math.min(exp + hours.graceHours * 3600, last),
  }
}
