import { platform } from '#platform'
import { fromBase64Url, fromUtf8, toHex, toUtf8 } from './bytes.ts'
import type { KeyRing } from './keys.ts'

/** What a statement of the server must be about. */
export interface Subject {
  appId: string
  hwid: string
  keys: KeyRing
}

/** A kind of statement: none passes for another. */
export type StatementType = 'keyward-lease+jws' | 'keyward-activation+jws'

/**
 * Verifies a compact JWS of the server: of this type, signed by a pinned key, for this app and this device. Returns its
 * claims, or undefined. Does not look at the clock.
 */
export async function readStatement(
  text: string,
  type: StatementType,
  { appId, hwid, keys }: Subject,
): Promise<Record<string, unknown> | undefined> {
  const parts = text.split('.')
  const [header, claims, signature] = parts.map((part) => fromBase64Url(part))
  if (parts.length !== 3 || !header || !claims || signature?.length !== 64) return undefined
  const { alg, typ, kid } = parseObject(fromUtf8(header))
  if (alg !== 'EdDSA' || typ !== type || typeof kid !== 'string') return undefined
  const verify = keys.get(kid)
  if (!verify || !(await verify(toUtf8(`${parts[0]}.${parts[1]}`), signature))) return undefined
  const found = parseObject(fromUtf8(claims))
  const isOurs = found.iss === 'keyward' && found.aud === appId && found.hwid === (await sha256Hex(hwid))
  return isOurs ? found : undefined
}

/** The claims of a statement for what may be used. */
interface FeatureClaims {
  features: string[]
  /** When features end that do not last as long as the statement, by name; most statements have none. */
  featuresUntil?: unknown
}

/** The features that hold at `now`, in seconds. */
export function featuresAt({ features, featuresUntil }: FeatureClaims, now: number): string[] {
  const added = endsOf(featuresUntil).filter(([name, end]) => now < end && !features.includes(name))
  return [...features, ...added.map(([name]) => name)]
}

/** The names and ends of a claim `featuresUntil`; of anything else none. */
export function endsOf(featuresUntil: unknown): [name: string, end: number][] {
  if (typeof featuresUntil !== 'object' || featuresUntil === null || Array.isArray(featuresUntil)) return []
  return Object.entries(featuresUntil).filter(([, end]) => isSeconds(end))
}

/** A whole number that a date can show as seconds: up to the year 9999. */
export const isSeconds = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 253_402_300_800

export const sha256Hex = async (text: string): Promise<string> => toHex(await platform.sha256(toUtf8(text)))

/** The object that a JSON text holds; an empty one for any other text. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
