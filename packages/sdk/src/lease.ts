import { isSeconds, readStatement, type Subject } from './jws.ts'

/** The claims of a lease; times in seconds since 1970. */
export interface Lease {
  sub: string
  hwid: string
  iat: number
  exp: number
  refreshAfter: number
  graceUntil: number
  seq: number
  features: string[]
  featuresUntil?: unknown
  /** The variables that the vendor offers offline; servers of earlier versions send none. */
  variables?: unknown
}

/**
 * Verifies a lease: typed as one, signed by a pinned key, for this app and this device. Returns its claims, or
 * undefined. Does not look at the clock.
 */
export async function readLease(text: string, subject: Subject): Promise<Lease | undefined> {
  const claims = await readStatement(text, 'keyward-lease+jws', subject)
  return claims && isLease(claims) ? claims : undefined
}

/** A missing end must not pass for none. */
function isLease(claims: object): claims is Lease {
  const { sub, iat, exp, refreshAfter, graceUntil, seq, features } = claims as Partial<Lease>
  const numbers = [iat, exp, refreshAfter, graceUntil, seq]
  return typeof sub === 'string' && numbers.every(isSeconds) && Array.isArray(features)
}

/** The texts of an object by name; an empty one for anything else. */
export function toTexts(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === 'string'))
}
