import { type Access, ownerAccess, permissionsOf } from '../../core/actor.ts'
import { day, minute } from '../../core/clock.ts'
import type { MemberRow } from '../../db/tables.ts'

const lifetimeMs = 30 * day
/** The use of a session is noted at most this often, so that reads do not become writes. */
const noteAfterMs = 10 * minute
/** Limits how long a stolen token works while it is kept in use. */
const maxAgeMs = 90 * day

/** The end of a new session, unless it is used. */
export const newSessionEnd = (now: number): number => now + lifetimeMs

/** The end of a session that is used now. */
export const sessionEnd = (createdAt: number, now: number): number =>
  Math.min(newSessionEnd(now), createdAt + maxAgeMs)

/** What is noted of a session in use: when, and its extended end. Undefined if it was noted recently. */
export function noteOfUse(
  session: { created_at: number; last_used_at: number },
  now: number,
): { last_used_at: number; expires_at: number } | undefined {
  // A use in the future was noted before the clock was set back.
  if (Math.abs(now - session.last_used_at) < noteAfterMs) return undefined
  return { last_used_at: now, expires_at: sessionEnd(session.created_at, now) }
}

/** What a person may do at a vendor account; undefined if it neither owns it nor is a member. */
export function accessOf(
  isOwner: boolean,
  member: Pick<MemberRow, 'role' | 'permissions' | 'apps'> | undefined,
): Access | undefined {
  if (isOwner) return ownerAccess
  if (!member) return undefined
  const { role, permissions, apps } = member
  return {
    role,
    permissions: permissionsOf(role, permissions === null ? [] : JSON.parse(permissions)),
    apps: apps === null ? null : new Set<string>(JSON.parse(apps)),
  }
}
