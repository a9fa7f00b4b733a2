import { lastInstant } from '../../core/clock.ts'
import { never } from '../../db/stored-end.ts'

/** The end of access without the time that a key gave; time that has passed cannot be taken back. */
export function afterTaking(end: number, addedMs: number, now: number): { after: number; takenMs: number } {
  const takenMs = Math.min(addedMs, Math.max(0, end - now))
  return { after: end - takenMs, takenMs }
}

/** The end of access after a key's time is restored. A finite end stays within the year 9999, and never moves back. */
export const afterReturn = (end: number, takenMs: number): number =>
  end + takenMs >= never ? never : Math.min(end + takenMs, Math.max(end, lastInstant))
