import type { ProgramActor } from '../../core/actor.ts'
import type { SessionFacts } from './program.reads.ts'

/** The program that calls, named by its app and its session. */
export const toActor = (session: SessionFacts, address: string): ProgramActor => ({
  kind: 'program',
  ownerId: session.owner_id,
  appId: session.app_row,
  sessionId: session.session_id,
  address,
})
