import { day, hour } from '../../core/clock.ts'

const lifetimeMs = 30 * day
/** A session's end is extended at most this often, so that reads do not become writes. */
const extendAfterMs = hour
/** Limits how long a stolen token works while it is kept in use. */
const maxAgeMs = 90 * day

/** The end of a new session, unless it is used. */
export const newSessionEnd = (now: number): number => now + lifetimeMs

/** The extended end of a session in use; undefined if it was extended recently or has reached its maximum age. */
export function extendedEnd(
  session: { created_at: number; expires_at: number },
  now: number,
): number | undefined {
  const end = Math.min(newSessionEnd(now), session.created_at + maxAgeMs)
  return session.expires_at < end - extendAfterMs ? end : undefined
}
