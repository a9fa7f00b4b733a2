import { toIso } from '../../../core/clock.ts'
import type { Problem } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { lockLicenseById } from '../../licenses/licenses.access.ts'
import { toActor } from '../facts/actor.ts'
import type { EndUserFacts, Floating, SessionFacts } from '../facts/facts.ts'
import { refusedLater } from '../verdict/refusal.ts'
import type { VerdictFacts } from '../verdict/verdict-facts.ts'
import { findNextSeat, returnSeat, takeSeat } from './seats.repo.ts'

interface Seated {
  endUser: EndUserFacts
  hwidHash: string | null
  /** What the verdict knew; a refusal reports its devices. */
  facts: VerdictFacts
}

/**
 * Takes a seat of a floating license for a session, or renews it, and returns when it ends. The caller has locked the
 * license, so that no two programs take the last one.
 */
export async function renewOrTakeSeat(
  { tx, now }: WriteTransaction,
  session: Pick<SessionFacts, 'id' | 'endUser'>,
  { endUser, hwidHash, facts }: Seated,
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
  throw await noSeats({ tx, now }, floating, facts)
}

/** Takes a seat again after the session's was not renewed in time. */
export const retakeSeat = (
  ctx: Ctx,
  session: SessionFacts,
  { endUser, facts, address }: { endUser: EndUserFacts; facts: VerdictFacts; address: string },
): Promise<number | null> =>
  ctx.tx(toActor(session, address), async (write) => {
    if (endUser.floating) await lockLicenseById(write.tx, session.app.id, endUser.floating.licenseId)
    return renewOrTakeSeat(write, session, { endUser, hwidHash: session.hwidHash, facts })
  })

async function noSeats(
  { tx, now }: Pick<WriteTransaction, 'tx' | 'now'>,
  floating: Floating,
  facts: VerdictFacts,
): Promise<Problem> {
  const until = await findNextSeat(tx, floating.licenseId, now)
  return refusedLater('noSeats', facts, {
    seats: { used: floating.seats, limit: floating.seats },
    until: until === undefined ? null : toIso(until),
  })
}
