import type { ProgramActor } from '../../core/actor.ts'
import type { SessionFacts } from './program.facts.ts'

/** The calling program, identified by its app and its session. */
export const toActor = (session: SessionFacts, address: string): ProgramActor => ({
  kind: 'program',
  ownerId: session.app.ownerId,
  appId: session.app.id,
  sessionId: session.id,
  address,
})
