import type { ProgramActor } from '../../../core/actor.ts'
import type { SessionFacts } from './facts.ts'

/** The calling program, identified by its app and its session, if it has one. */
export const toActor = (
  { app, id }: Pick<SessionFacts, 'app'> & { id: string | null },
  address: string,
): ProgramActor => ({
  kind: 'program',
  ownerId: app.ownerId,
  apps: null,
  appId: app.id,
  sessionId: id,
  address,
})
