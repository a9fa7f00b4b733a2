import { sha256 } from '../../core/crypto.ts'
import { problem } from '../../core/problem.ts'
import { sentHash } from '../devices/devices.service.ts'
import { nextStatement, readLeaseTerms } from '../end-users/end-users.access.ts'
import { toActor } from './program.actor.ts'
import type { SessionFacts } from './program.facts.ts'
import { toLeaseTimes } from './program.rules.ts'
import { currentUser } from './program.seats.ts'
import type { ProgramDeps } from './program.service.ts'
import type { AnswerSigner } from './program.signer.ts'

interface LeaseCall {
  hwid: string
  address: string
  /** The keys that the program pins, as it sent them. */
  pinned: string | undefined
}

/**
 * Issues a signed statement with which the program may run offline on this device until it ends. The device must be the
 * one that signed in.
 */
export async function issueLease(
  deps: ProgramDeps & { signer: AnswerSigner },
  session: SessionFacts,
  { hwid, address, pinned }: LeaseCall,
): Promise<{ lease: string }> {
  const { seat } = await currentUser(deps, session, address)
  const { app, endUser } = session
  if (!endUser || !session.hwidHash || sentHash(session.hwidHash) !== sha256(hwid))
    throw problem('hwidMismatch')
  const claims = await deps.ctx.tx(toActor(session, address), async (write) => {
    const { tx, now } = write
    const terms = await readLeaseTerms(tx, app, endUser.id)
    if (!terms) throw problem('sessionUnauthed')
    // Others may take the seat after its end, also if this program is offline.
    const end = Math.min(endUser.expiresAt, seat ? Date.parse(seat.until) : endUser.expiresAt)
    const times = toLeaseTimes(terms, end, now)
    const until = times.graceUntil * 1000
    const seq = await nextStatement(tx, app, endUser.id, { column: 'lease_until', until })
    write.record('end_user.lease_issued', endUser.id, { until })
    return { ...times, seq, features: terms.features }
  })
  const subject = { iss: 'keyward', aud: app.appId, sub: endUser.id, hwid: sentHash(session.hwidHash) }
  return { lease: await deps.signer.signLease(app, pinned, { ...subject, ...claims }) }
}
