import { platform } from '#platform'
import { concat, toUtf8 } from './bytes.ts'
import { grouped, toCrockford } from './crockford.ts'
import { featuresAt, isSeconds, readStatement, type Subject } from './jws.ts'
import type { OfflineState, SessionUser } from './types.ts'

/** The claims of an activation of a machine that is never online; times in seconds since 1970. */
export interface Activation {
  sub: string
  hwid: string
  /** The nonce of the request that the file answers, 16 hex digits. */
  nonce: string
  iat: number
  /** Null for never. */
  exp: number | null
  seq: number
  features: string[]
  featuresUntil?: unknown
  username: string
  term: SessionUser['term']
  /** When the license ends, without grace days; ISO 8601, null for never. */
  expiresAt: string | null
  /** The code with which the vendor frees the device. */
  deactivation: string
}

/** A request that no file has answered yet, or the one that the accepted file answers. */
export interface OfflineRequest {
  /** 16 hex digits. */
  nonce: string
  /** SHA-256 of the license key, hex. */
  licenseKey: string
}

export const nonceBytes = 8
export const licenseKeyMax = 100
const version = 1
const checkBytes = 4

/** The request of a machine that is never online, as the vendor's console reads it. */
export async function encodeRequest(facts: {
  appId: string
  hwid: string
  licenseKey: string
  nonce: Uint8Array
}): Promise<string> {
  const { appId, hwid, licenseKey, nonce } = facts
  const hwidHash = await platform.sha256(toUtf8(hwid))
  const body = concat([Uint8Array.of(version), nonce, hwidHash, toUtf8(licenseKey)])
  const digest = await platform.sha256(concat([toUtf8(appId), body]))
  return `KWR1-${grouped(toCrockford(concat([body, digest.subarray(0, checkBytes)])), 5)}`
}

/**
 * Verifies one line of an activation file: typed as one, signed by a pinned key, for this app and this device. Returns its
 * claims, or undefined. Looks neither at the clock nor at the nonce.
 */
export async function readActivation(text: string, subject: Subject): Promise<Activation | undefined> {
  const claims = await readStatement(text, 'keyward-activation+jws', subject)
  return claims && isActivation(claims) ? claims : undefined
}

/** A missing end must not pass for none. */
function isActivation(claims: object): claims is Activation {
  const { sub, nonce, iat, exp, seq, features, username, term, expiresAt, deactivation } =
    claims as Partial<Activation>
  return (
    [sub, nonce, username, term, deactivation].every((text) => typeof text === 'string') &&
    isSeconds(iat) &&
    (exp === null || isSeconds(exp)) &&
    isSeconds(seq) &&
    Array.isArray(features) &&
    (expiresAt === null || (typeof expiresAt === 'string' && !Number.isNaN(Date.parse(expiresAt))))
  )
}

/** The longest file that is read: as many lines as an app can have keys, and more. */
const fileLengthMax = 1_000_000

/** The lines of an activation file: the same statement, signed once with each key. */
export const linesOf = (file: string): string[] =>
  file.length > fileLengthMax ? [] : file.split(/\s+/).filter((line) => line !== '')

/** The user and the state of an activation that is valid at `now`, in seconds. */
export function toActivated(
  activation: Activation,
  now: number,
): { user: SessionUser; offline: OfflineState } {
  const { sub, username, expiresAt, term, iat, exp } = activation
  const until = exp === null ? null : toIso(exp)
  return {
    user: {
      _id: sub,
      username,
      email: null,
      expiresAt,
      inGrace: expiresAt !== null && now * 1000 >= Date.parse(expiresAt),
      term,
      createdAt: toIso(iat),
      lastLoginAt: null,
      hwidBound: true,
      features: featuresAt(activation, now),
      variables: {},
      updatesUntil: null,
      devices: { used: 1, limit: 1 },
      seat: null,
    },
    offline: { until, graceUntil: until, inGrace: false },
  }
}

export const toIso = (seconds: number): string => new Date(seconds * 1000).toISOString()
