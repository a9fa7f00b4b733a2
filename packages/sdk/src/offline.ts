import { platform } from '#platform'
import { fromBase64Url, fromUtf8, toHex, toUtf8 } from './bytes.ts'
import type { KeyRing } from './keys.ts'
import type { KeywardStorage, OfflineState, SessionUser } from './types.ts'

/** How far a clock may lag behind the highest time that the server has signed, in seconds. */
const clockToleranceS = 300

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
}

/** Why the stored lease does not help. */
export type OfflineProblem = 'no_lease' | 'lease_ended' | 'clock_set_back'

interface OfflineAnswer {
  user: SessionUser
  offline: OfflineState
}

/** What outlives the program. */
interface Kept {
  /** The latest lease; empty without one. */
  lease: string
  /** The latest time that was ever seen, in seconds since 1970. */
  latest: number
  /** Of the last answer; not signed, therefore for display alone. */
  user: SessionUser | null
  /** SHA-256 of the license key that signed in, if one did. */
  key: string | null
  /** The token of a remembered sign-in, if there is one. */
  deviceToken?: string | undefined
}

const nothing: Kept = { lease: '', latest: 0, user: null, key: null }

/**
 * Verifies a lease: typed as one, signed by a pinned key, for this app and this device. Returns its claims, or
 * undefined. Does not look at the clock.
 */
export async function readLease(
  text: string,
  { appId, hwid, keys }: { appId: string; hwid: string; keys: KeyRing },
): Promise<Lease | undefined> {
  const parts = text.split('.')
  const [header, claims, signature] = parts.map((part) => fromBase64Url(part))
  if (parts.length !== 3 || !header || !claims || signature?.length !== 64) return undefined
  const { alg, typ, kid } = parse(header)
  if (alg !== 'EdDSA' || typ !== 'keyward-lease+jws' || typeof kid !== 'string') return undefined
  const verify = keys.get(kid)
  if (!verify || !(await verify(toUtf8(`${parts[0]}.${parts[1]}`), signature))) return undefined
  const lease = parse(claims)
  const isOurs =
    lease.iss === 'keyward' &&
    lease.aud === appId &&
    lease.hwid === toHex(await platform.sha256(toUtf8(hwid)))
  return isOurs ? (lease as unknown as Lease) : undefined
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(fromUtf8(bytes))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Keeps the latest lease of a device, and answers with it while the server cannot be reached. */
export class Offline {
  readonly #storage: KeywardStorage
  readonly #appId: string
  readonly #keys: KeyRing
  readonly #now: () => number
  #last: Promise<unknown> = Promise.resolve()

  constructor(storage: KeywardStorage, appId: string, keys: KeyRing, now = () => Date.now() / 1000) {
    this.#storage = storage
    this.#appId = appId
    this.#keys = keys
    this.#now = now
  }

  /** Whether a new lease is due for this user. */
  async isDue(hwid: string, userId: string): Promise<boolean> {
    const { lease } = await this.#read(hwid)
    return lease?.sub !== userId || this.#now() >= lease.refreshAfter
  }

  /** Stores a lease that the server has just issued; ignores one that is not valid, or older than the stored one. */
  keep(text: string, hwid: string, user: SessionUser, licenseKey: string | undefined): Promise<void> {
    return this.#alone(() => this.#keep(text, hwid, user, licenseKey))
  }

  async #keep(text: string, hwid: string, user: SessionUser, licenseKey: string | undefined): Promise<void> {
    const lease = await readLease(text, { appId: this.#appId, hwid, keys: this.#keys })
    const { kept, lease: stored } = await this.#read(hwid)
    if (!lease || (stored?.sub === lease.sub && stored.seq > lease.seq)) return
    const key = licenseKey === undefined ? (stored?.sub === lease.sub ? kept.key : null) : licenseKey
    await this.#write({
      ...kept,
      lease: text,
      latest: Math.max(kept.latest, lease.iat),
      user,
      key: licenseKey === undefined ? key : toHex(await platform.sha256(toUtf8(licenseKey))),
    })
  }

  /** Forgets the lease after a refusal. */
  forgetLease(): Promise<void> {
    return this.#alone(async () => {
      const { deviceToken, latest } = await this.#load()
      await this.#write({ ...nothing, latest, deviceToken })
    })
  }

  /** Forgets everything but the time, after a sign-out. */
  forget(): Promise<void> {
    return this.#alone(async () => {
      const { latest } = await this.#load()
      await this.#write({ ...nothing, latest })
    })
  }

  /** Forgets a token that the server has refused, unless another program on this machine has stored a newer one. */
  dropDeviceToken(refused: string): Promise<void> {
    return this.#alone(async () => {
      const kept = await this.#load()
      if (kept.deviceToken === refused) await this.#write({ ...kept, deviceToken: undefined })
    })
  }

  async deviceToken(): Promise<string | undefined> {
    return (await this.#load()).deviceToken
  }

  keepDeviceToken(deviceToken: string): Promise<void> {
    return this.#alone(async () => this.#write({ ...(await this.#load()), deviceToken }))
  }

  /** Answers from the lease, or says why it cannot. `licenseKey` must be the key that signed in, if it is given. */
  answer(hwid: string, licenseKey: string | undefined): Promise<OfflineAnswer | OfflineProblem> {
    return this.#alone(() => this.#answer(hwid, licenseKey))
  }

  async #answer(hwid: string, licenseKey: string | undefined): Promise<OfflineAnswer | OfflineProblem> {
    const { kept, lease } = await this.#read(hwid)
    if (!kept.user || !lease) return 'no_lease'
    if (licenseKey !== undefined && kept.key !== toHex(await platform.sha256(toUtf8(licenseKey))))
      return 'no_lease'
    const now = this.#now()
    const latest = Math.max(kept.latest, lease.iat)
    if (now < latest - clockToleranceS) return 'clock_set_back'
    if (now >= lease.graceUntil) return 'lease_ended'
    if (now > latest) await this.#write({ ...kept, latest: Math.floor(now) })
    const toIso = (seconds: number) => new Date(seconds * 1000).toISOString()
    return {
      user: { ...kept.user, _id: lease.sub, features: lease.features, variables: {} },
      offline: {
        until: toIso(lease.exp),
        graceUntil: toIso(lease.graceUntil),
        inGrace: now >= lease.exp,
      },
    }
  }

  async #read(hwid: string): Promise<{ kept: Kept; lease: Lease | undefined }> {
    const kept = await this.#load()
    return { kept, lease: await readLease(kept.lease, { appId: this.#appId, hwid, keys: this.#keys }) }
  }

  async #load(): Promise<Kept> {
    const text = await this.#storage.read().catch(() => null)
    const { lease, latest, user, key, deviceToken } = text ? parse(toUtf8(text)) : {}
    return {
      lease: typeof lease === 'string' ? lease : '',
      latest: typeof latest === 'number' ? latest : 0,
      user: typeof user === 'object' ? (user as SessionUser | null) : null,
      key: typeof key === 'string' ? key : null,
      deviceToken: typeof deviceToken === 'string' ? deviceToken : undefined,
    }
  }

  /** One change after the other, so that none is lost. */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(change)
    this.#last = result.catch(() => {})
    return result
  }

  async #write(kept: Kept): Promise<void> {
    // A full disk must not stop a program that is online.
    await this.#storage.write(JSON.stringify(kept)).catch(() => {})
  }
}
