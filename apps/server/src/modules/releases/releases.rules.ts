import { day } from '../../core/clock.ts'

/** A release of today ends with its day. */
export const isOut = (releasedAt: number, now: number): boolean => releasedAt < now + day
