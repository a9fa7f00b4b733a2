import type { SessionUser } from '@keyward/contract'
import { toIso, toIsoOrNull } from '../../../core/clock.ts'
import { endFields } from '../../entitlements/term.rules.ts'
import { hasUpdate } from '../../releases/catalog.rules.ts'
import type { EndUserFacts, SessionFacts } from '../facts/facts.ts'

/** The end that programs see, without grace days. */
export function endFieldsOf(
  { expiresAt, graceDays }: Pick<EndUserFacts, 'expiresAt' | 'graceDays'>,
  now: number,
) {
  const end = endFields({ expires_at: expiresAt, grace_days: graceDays }, now)
  return { expiresAt: end.expiresAt, inGrace: end.inGrace }
}

/** A signed-in end user; the variables are read after the sign-in was committed. */
export type SignedInUser = Omit<SessionUser, 'variables'>

/** What a session adds to its end user. */
export type UserSession = Pick<SessionFacts, 'app' | 'version' | 'seatUntil'>

export const toSessionUser = (
  endUser: EndUserFacts,
  now: number,
  { app, version, seatUntil }: UserSession,
): SignedInUser => ({
  _id: endUser.id,
  username: endUser.username,
  email: endUser.email,
  ...endFieldsOf(endUser, now),
  term: endUser.term,
  createdAt: toIso(endUser.createdAt),
  lastLoginAt: toIsoOrNull(endUser.lastLoginAt),
  hwidBound: endUser.devices.used > 0,
  devices: endUser.devices,
  seat: seatUntil === null ? null : { until: toIso(seatUntil) },
  features: endUser.features === '[]' ? [] : JSON.parse(endUser.features),
  updatesUntil: toIsoOrNull(endUser.updatesUntil),
  updateAvailable: hasUpdate(
    app.releases,
    { program: version, app: app.version, until: endUser.updatesUntil },
    now,
  ),
})
