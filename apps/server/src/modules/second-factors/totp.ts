import type { Secret, TOTP } from 'otpauth'
import { second } from '../../core/clock.ts'

// Codes by time, RFC 6238: HMAC-SHA-1, six digits, steps of thirty seconds. Apps ignore other choices in the URI.
const stepSeconds = 30
const settings = { algorithm: 'SHA1', digits: 6, period: stepSeconds } as const
/** RFC 4226, section 4, recommends 160 bits. */
const secretBytes = 20

const load = () => import('otpauth')

/** A new secret in base32. */
export async function newTotpSecret(): Promise<string> {
  const otpauth = await load()
  return new otpauth.Secret({ size: secretBytes }).base32
}

/** What a QR code for an authenticator app contains. */
export async function toTotpUri(secret: string, { issuer, label }: { issuer: string; label: string }) {
  const otpauth = await load()
  return new otpauth.TOTP({ ...settings, issuer, label, secret: secretOf(otpauth, secret) }).toString()
}

/**
 * The time step of a code, or undefined. Accepts the steps before and after the current one, because clocks differ and
 * people type slowly (RFC 6238, section 5.2).
 */
export async function findStep(secret: string, code: string, now: number): Promise<number | undefined> {
  const token = code.replace(/[\s-]/g, '')
  if (!/^\d{6}$/.test(token)) return undefined
  const otpauth = await load()
  const totp: TOTP = new otpauth.TOTP({ ...settings, secret: secretOf(otpauth, secret) })
  const delta = totp.validate({ token, timestamp: now, window: 1 })
  return delta === null ? undefined : Math.floor(now / second / stepSeconds) + delta
}

const secretOf = ({ Secret }: Awaited<ReturnType<typeof load>>, base32: string): Secret =>
  Secret.fromBase32(base32)
