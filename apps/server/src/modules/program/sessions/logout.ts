import type { Ctx } from '../../../service/ctx.ts'
import { endSession } from '../../sessions/program-sessions.access.ts'
import { toActor } from '../facts/actor.ts'
import type { SessionFacts } from '../facts/facts.ts'
import { returnSeat } from './seats.repo.ts'

/** Ends a session and returns its seat. */
export const logout = (ctx: Pick<Ctx, 'tx'>, session: SessionFacts, address: string): Promise<void> =>
  ctx.tx(toActor(session, address), async (write) => {
    await returnSeat(write.tx, session.id)
    await endSession(write.tx, session, write.now)
    write.record('end_user.signed_out', session.endUser?.id ?? null, {}, session.app.id)
  })
