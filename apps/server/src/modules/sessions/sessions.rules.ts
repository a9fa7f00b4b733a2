import type { Access } from '../../core/actor.ts'
import { day, hour } from '../../core/clock.ts'
import type { MemberRow } from '../../db/tables.ts'

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

/** What a person may do at a vendor account; undefined if it neither owns it nor is a member. */
export function accessOf(
  isOwner: boolean,
  member: Pick<MemberRow, 'role' | 'apps'> | undefined,
): Access | undefined {
  if (isOwner) return { role: 'owner', apps: null }
  if (!member) return undefined
  return { role: member.role, apps: member.apps === null ? null : new Set<string>(JSON.parse(member.apps)) }
}
