import { limits } from '@keyward/contract'
import { hour } from '../../core/clock.ts'

/** How long a program's session lasts after its last use; a use extends it once `extendAfterMs` of it has passed. */
export const sessionLifetimeMs = 24 * hour
export const extendAfterMs = hour

/** Sessions that end later were used within `limits.onlineHours`; each one that was used within the last hour is among them. */
export const onlineUntil = (now: number): number => now + sessionLifetimeMs - limits.onlineHours * hour
