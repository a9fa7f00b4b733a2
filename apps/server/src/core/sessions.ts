import { storageFailureOf } from '../db/failure.ts'
import { day, hour } from './clock.ts'

// Sessions of owners and resellers. One slides at most this often, so that reading does not turn into writing.
const lifetimeMs = 30 * day
const slideAfterMs = hour
/** A stolen token that is kept in use must not work forever. */
const longestMs = 90 * day

/** When a session that begins now ends unless it is used. */
export const newSessionEnd = (now: number): number => now + lifetimeMs

/** The later end of a session that is in use; undefined while it slid only a short while ago, or cannot any more. */
export function slidEnd(
  session: { created_at: number; expires_at: number },
  now: number,
): number | undefined {
  const end = Math.min(newSessionEnd(now), session.created_at + longestMs)
  return session.expires_at < end - slideAfterMs ? end : undefined
}

/** Moves the end of a session by `write`. What only reads must not fail because there is no room to write that down. */
export async function slide(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (storageFailureOf(error) !== 'storage_full') throw error
  }
}
