import { day, hour } from '../../core/clock.ts'

const lifetimeMs = 30 * day
/** An end slides at most this often, so that reads do not turn into writes. */
const slideAfterMs = hour
/** A stolen token that is kept in use must not work forever. */
const longestMs = 90 * day

/** When a session that begins now ends unless it is used. */
export const newSessionEnd = (now: number): number => now + lifetimeMs

/** The later end of a session in use; undefined when it slid recently or reached its last end. */
export function slidEnd(
  session: { created_at: number; expires_at: number },
  now: number,
): number | undefined {
  const end = Math.min(newSessionEnd(now), session.created_at + longestMs)
  return session.expires_at < end - slideAfterMs ? end : undefined
}
