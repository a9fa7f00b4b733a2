import { type SignedInUser, toSessionUser } from '../answers/session-user.ts'
import type { SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { retakeSeat } from '../sessions/seats.ts'
import { allowedUser } from './allowed-user.ts'

/** The signed-in end user of a session, with its seat. */
export async function checkSession(
  deps: ProgramDeps,
  session: SessionFacts,
  address: string,
): Promise<SignedInUser> {
  const { endUser, facts } = await allowedUser(deps, session, { call: 'session', address })
  const { floating } = endUser
  if (!floating) return toSessionUser(endUser, facts.now, { ...session, seatUntil: null })
  const { seatUntil } = session
  if (seatUntil === null || seatUntil <= facts.now) {
    const until = await retakeSeat(deps.ctx, session, { endUser, facts, address })
    return toSessionUser(endUser, facts.now, { ...session, seatUntil: until })
  }
  deps.sessions.renewSeat(session, seatUntil, floating.timeoutMs)
  return toSessionUser(endUser, facts.now, session)
}
