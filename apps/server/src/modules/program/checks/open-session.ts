import { problem } from '../../../core/problem.ts'
import type { AppFacts, SessionFacts } from '../facts/facts.ts'
import { appVerdict } from '../verdict/verdict.ts'

/** Returns the session of a call unless it has ended, or no program of its app may run. */
export function openSession(app: AppFacts, session: SessionFacts | undefined, now: number): SessionFacts {
  const verdict = appVerdict(app)
  if (verdict) throw problem(verdict)
  if (!session || session.expiresAt <= now) throw problem('sessionUnauthed')
  if (session.secretVersion !== app.secretVersion) throw problem('sessionUnauthed')
  return session
}
