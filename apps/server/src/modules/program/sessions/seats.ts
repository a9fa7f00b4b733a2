import type { DeviceUse } from '@keyward/contract'
import { toIso } from '../../../core/clock.ts'
import { type Problem, problem } from '../../../core/problem.ts'
import type { Write } from '../../../db/record.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { lockLicenseById } from '../../licenses/licenses.access.ts'
import { toActor } from '../facts/actor.ts'
import type { EndUserFacts, Floating, SessionFacts } from '../facts/facts.ts'
import {
  allowedUser,
  type ProgramDeps,
  type SignedInUser,
  toDetails,
  toSessionUser,
} from '../sign-in/service.ts'
import { because } from '../verdict/refusal.ts'
import { findNextSeat, returnSeat, takeSeat } from './seats.repo.ts'

interface Seated {
  endUser: EndUserFacts
  hwidHash: string | null
  /** The end user's devices, as a refusal reports them. */
  before: DeviceUse
}

/**
 * Takes a seat of a floating license for a session, or renews it, and returns when it ends. The caller has locked the
 * license, so that no two programs take the last one.
 */
export async function sit(
  { tx, now }: Write,
  session: Pick<SessionFacts, 'id' | 'endUser'>,
  { endUser, hwidHash, before }: Seated,
): Promise<number | null> {
  const { floating } = endUser
  if (!floating) {
    // The session had a seat of the license that it was signed in with before.
    if (session.endUser?.floating) await returnSeat(tx, session.id)
    return null
  }
  const until = now + floating.timeoutMs
  const seat = { sessionId: session.id, holder: hwidHash ?? session.id, until }
  if (await takeSeat(tx, floating, seat, now)) return until
  throw await noSeats({ tx, now }, floating, { ...endUser, devices: before })
}

/** Takes a seat again after the session's was not renewed in time. */
const sitAgain = (
  ctx: Ctx,
  session: SessionFacts,
  endUser: EndUserFacts,
  address: string,
): Promise<number | null> =>
  ctx.tx(toActor(session, address), async (write) => {
    if (endUser.floating) await lockLicenseById(write.tx, session.app.id, endUser.floating.licenseId)
    return sit(write, session, { endUser, hwidHash: session.hwidHash, before: endUser.devices })
  })

async function noSeats(
  { tx, now }: Pick<Write, 'tx' | 'now'>,
  floating: Floating,
  endUser: EndUserFacts,
): Promise<Problem> {
  const until = await findNextSeat(tx, floating.licenseId, now)
  const found = problem('noSeats', {
    details: {
      ...toDetails(endUser, now),
      seats: { used: floating.seats, limit: floating.seats },
      until: until === undefined ? null : toIso(until),
    },
  })
  return because(found, { endUserId: endUser.id })
}

/** The signed-in end user of a session, with its seat. */
export async function currentUser(
  deps: ProgramDeps,
  session: SessionFacts,
  address: string,
): Promise<SignedInUser> {
  const { endUser, now } = await allowedUser(deps, session, address)
  const { floating } = endUser
  if (!floating) return toSessionUser(endUser, now, { ...session, seatUntil: null })
  const { seatUntil } = session
  if (seatUntil === null || seatUntil <= now) {
    const until = await sitAgain(deps.ctx, session, endUser, address)
    return toSessionUser(endUser, now, { ...session, seatUntil: until })
  }
  deps.sessions.renewSeat(session, seatUntil, floating.timeoutMs)
  return toSessionUser(endUser, now, session)
}
