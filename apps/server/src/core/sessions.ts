import { storageFailureOf } from '../db/failure.ts'
import { day, hour } from './clock.ts'

// Sessions of owners and resellers. One slides at most this often, so that reading does not turn into writing.
const lifetimeMs = 30 * day
const slideAfterMs = hour

/** When a session that begins or is prolonged now ends. */
export const newSessionEnd = (now: number): number => now + lifetimeMs

/** The later end of a session that is in use; undefined while it slid only a short while ago. */
export const slidEnd = (expiresAt: number, now: number): number | undefined =>
  expiresAt < newSessionEnd(now) - slideAfterMs ? newSessionEnd(now) : undefined

/** Moves the end of a session by `write`. What only reads must not fail because there is no room to write that down. */
export async function slide(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (storageFailureOf(error) !== 'storage_full') throw error
  }
}
