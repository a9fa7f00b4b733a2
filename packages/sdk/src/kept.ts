import type { OfflineRequest } from './activation.ts'
import { parseObject } from './jws.ts'
import { type TimeNotes, toBootStart } from './seen-time.ts'
import type { KeywardStorage, SessionUser } from './types.ts'

/** What outlives the program. */
export interface Kept extends TimeNotes {
  /** The latest lease; empty without one. */
  lease: string
  /** The user of the last answer. It is not signed, therefore for display alone. */
  user: SessionUser | null
  /** SHA-256 of the license key that signed in, if one did. */
  key: string | null
  /** The token of a remembered sign-in, if there is one. */
  deviceToken?: string | undefined
  /** The activation of a machine that is never online. */
  activation?: KeptActivation | undefined
  /** Nothing may be written, or what is there would be lost. */
  isUnreadable?: boolean
}

/** The accepted file with the request that it answers, and the request that waits for a file. */
interface KeptActivation extends Partial<OfflineRequest> {
  /** The line of the file that was accepted; not there without one. */
  file?: string
  pending?: OfflineRequest
}

/** A change that must be stored was not. */
export class StorageFailure extends Error {}

export const nothing = { lease: '', latest: 0, user: null, key: null } satisfies Kept

export const withoutFile = ({ activation }: Kept): KeptActivation | undefined =>
  activation?.pending && { pending: activation.pending }

export async function load(storage: KeywardStorage): Promise<Kept> {
  let text: string | null
  try {
    text = await storage.read()
  } catch {
    return { ...nothing, isUnreadable: true }
  }
  // Members that other versions have written are kept.
  const { lease, latest, boot, user, key, deviceToken, activation, ...others } = parseObject(text || '{}')
  return {
    ...others,
    lease: typeof lease === 'string' ? lease : '',
    latest: typeof latest === 'number' ? latest : 0,
    boot: toBootStart(boot),
    user: typeof user === 'object' ? (user as SessionUser | null) : null,
    key: typeof key === 'string' ? key : null,
    deviceToken: typeof deviceToken === 'string' ? deviceToken : undefined,
    activation: toKeptActivation(activation),
  }
}

/** Throws `StorageFailure` unless the change is stored. */
export async function store(storage: KeywardStorage, { isUnreadable, ...kept }: Kept): Promise<void> {
  if (isUnreadable) throw new StorageFailure('The storage cannot be read')
  try {
    await storage.write(JSON.stringify(kept))
  } catch (cause) {
    throw new StorageFailure('The storage cannot be written', { cause })
  }
}

function toKeptActivation(value: unknown): KeptActivation | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { file, pending } = value as KeptActivation
  const request = toRequest(value)
  const waiting = toRequest(pending)
  return {
    ...(typeof file === 'string' && request && { file, ...request }),
    ...(waiting && { pending: waiting }),
  }
}

function toRequest(value: unknown): OfflineRequest | undefined {
  const { nonce, licenseKey } = (value ?? {}) as Partial<OfflineRequest>
  const isRequest =
    typeof nonce === 'string' && /^[0-9a-f]{16}$/.test(nonce) && typeof licenseKey === 'string'
  return isRequest ? { nonce, licenseKey } : undefined
}
