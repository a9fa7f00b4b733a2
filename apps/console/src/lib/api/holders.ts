import { keys } from './query-keys.ts'
import { ownerSession, resellerSession, type Session } from './session.ts'
import { wire } from './wire.ts'

/** The calls of a kind of account about its own sessions and second factors. */
export interface Holder {
  session: Session
  /** Where its account is in the query cache. */
  profileKey: readonly string[]
  securityKey: readonly string[]
  sessions: typeof wire.accountSessions
  factors: Omit<typeof wire.secondFactor, 'complete' | 'passkeyLogin'>
}

/** People who work for a vendor. */
export const ownerHolder: Holder = {
  session: ownerSession,
  profileKey: keys.owner,
  securityKey: keys.security,
  sessions: wire.accountSessions,
  factors: wire.secondFactor,
}

export const resellerHolder: Holder = {
  session: resellerSession,
  profileKey: [...keys.reseller, 'profile'],
  securityKey: [...keys.reseller, 'security'],
  sessions: wire.portalSessions,
  factors: wire.portalSecondFactor,
}
