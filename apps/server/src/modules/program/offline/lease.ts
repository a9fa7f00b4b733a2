import { unlimited } from '@keyward/contract'
import { toIsoOrNull } from '../../../core/clock.ts'
import { sha256 } from '../../../core/crypto.ts'
import { problem } from '../../../core/problem.ts'
import type { Write } from '../../../db/record.ts'
import { findByHash } from '../../devices/devices.access.ts'
import { sentHash } from '../../devices/devices.service.ts'
import { leaseDevice, leaseSeat } from '../../devices/leased-places.access.ts'
import { readLeaseTerms } from '../../end-users/end-users.access.ts'
import { nextStatement } from '../../entitlements/end-user-rows.ts'
import { lockLicenseById } from '../../licenses/licenses.access.ts'
import { toActor } from '../facts/actor.ts'
import type { SessionFacts } from '../facts/facts.ts'
import type { AnswerSigner } from '../http/signer.ts'
import { sit } from '../sessions/seats.ts'
import { toLeaseTimes } from '../sign-in/rules.ts'
import { allowedUser, type ProgramDeps } from '../sign-in/service.ts'

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
  deps: ProgramDeps & { signer: AnswerSigner },
  session: SessionFacts,
  { hwid, address, pinned }: LeaseCall,
): Promise<{ lease: string }> {
  const { endUser } = await allowedUser(deps, session, address)
  const { app, hwidHash } = session
  if (!hwidHash || sentHash(hwidHash) !== sha256(hwid)) throw problem('hwidMismatch')
  const { floating, devices } = endUser
  // A machine that a free place lets in, but that is not bound, would run offline beside the one that takes the place.
  if (!session.device && app.hwidLock && devices.limit !== unlimited) throw problem('hwidMismatch')
  const variables = await deps.variables.offline(app, endUser)
  const claims = await deps.ctx.tx(toActor(session, address), async (write) => {
    const { tx, now } = write
    if (floating) await lockLicenseById(tx, app.id, floating.licenseId)
    const terms = await readLeaseTerms(tx, app)
    if (!terms) throw problem('sessionUnauthed')
    const seatUntil = await sit(write, session, { endUser, hwidHash, before: endUser.devices })
    // A floating license has no grace beyond the seat: others may take it then, also if this program is offline.
    const times = toLeaseTimes(terms, Math.min(endUser.expiresAt, seatUntil ?? endUser.expiresAt), now)
    const until = times.graceUntil * 1000
    const seq = await nextStatement(tx, app, endUser.id, { column: 'lease_until', until })
    if (seq === undefined) throw problem('sessionUnauthed')
    if (floating) await leaseSeat(tx, floating.licenseId, hwidHash, until)
    if (session.device) await holdDevice(write, session, session.device.id, until)
    write.record('end_user.lease_issued', endUser.id, { until })
    return { ...times, seq, features: JSON.parse(endUser.features) as string[] }
  })
  const subject = { iss: 'keyward', aud: app.appId, sub: endUser.id, hwid: sentHash(hwidHash) }
  const carried = Object.keys(variables).length > 0 ? { variables } : {}
  return { lease: await deps.signer.signLease(app, pinned, { ...subject, ...claims, ...carried }) }
}

/** Holds the device's place until the lease ends, unless it was freed meanwhile or has changed since another lease. */
async function holdDevice(
  { tx, now }: Write,
  { app, endUser, hwidHash }: SessionFacts,
  id: string,
  until: number,
): Promise<void> {
  if (!endUser || hwidHash === null) return
  if (await leaseDevice(tx, app, { id, hwidHash }, until, now)) return
  const device = await findByHash(tx, endUser.id, hwidHash)
  if (!device || device.id !== id || device.freed_until !== null) throw problem('hwidMismatch')
  throw problem('device_leased', { details: { until: toIsoOrNull(device.lease_until) } })
}
