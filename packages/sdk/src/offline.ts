import { platform } from '#platform'
import {
  type Activation,
  linesOf,
  nonceBytes,
  type OfflineRequest,
  readActivation,
  toActivated,
  toIso,
} from './activation.ts'
import { toHex } from './bytes.ts'
import { isSeconds, parseObject, readStatement, type Subject, sha256Hex } from './jws.ts'
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
  /** Of a machine that is never online. */
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

/** Why a file was not accepted. */
export type ActivationProblem = 'not_for_this_machine' | 'other_request' | 'lease_ended' | 'clock_set_back'

/** A change that must be stored was not. */
export class StorageFailure extends Error {}

const nothing = { lease: '', latest: 0, user: null, key: null } satisfies Kept

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
    const lease = await readLease(text, this.#subject(hwid))
    const { kept, lease: stored } = await this.#read(hwid)
    if (!lease || (stored?.sub === lease.sub && stored.seq > lease.seq)) return
    const key = licenseKey === undefined ? (stored?.sub === lease.sub ? kept.key : null) : licenseKey
    await this.#write({
      ...kept,
      lease: text,
      latest: Math.max(kept.latest, lease.iat),
      user,
      key: licenseKey === undefined ? key : await sha256Hex(licenseKey),
    })
  }

  /**
   * Corrects the latest time after a clock that was far ahead. `serverTime` is when the server signed the answer to a
   * request of just now; an attacker can neither choose nor repeat it.
   */
  async correctTime(serverTime: number, hwid: string | undefined): Promise<void> {
    const isAhead = ({ latest }: Kept) => latest > serverTime + clockToleranceS
    if (!isAhead(await this.#load())) return
    await this.#alone(async () => {
      const kept = await this.#load()
      const lease = hwid === undefined ? undefined : await readLease(kept.lease, this.#subject(hwid))
      const latest = Math.max(serverTime, lease?.iat ?? 0)
      if (isAhead(kept) && latest < kept.latest) await this.#write({ ...kept, latest })
    })
  }

  /** Forgets the lease and the activation after a refusal. */
  forgetLease(): Promise<void> {
    return this.#alone(async () => {
      const kept = await this.#load()
      await this.#write({ ...kept, ...nothing, latest: kept.latest, activation: withoutFile(kept) })
    })
  }

  /** Forgets everything but the time and the activation, after a sign-out. */
  forget(): Promise<void> {
    return this.#alone(async () => {
      const kept = await this.#load()
      await this.#write({ ...kept, ...nothing, latest: kept.latest, deviceToken: undefined })
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
    const key = licenseKey === undefined ? undefined : await sha256Hex(licenseKey)
    const leased = await this.#answerFromLease(kept, lease, key)
    if (typeof leased === 'object') return leased
    const activated = await this.#answerFromActivation(kept, hwid, key)
    return typeof activated === 'object' || leased === 'no_lease' ? activated : leased
  }

  async #answerFromLease(
    kept: Kept,
    lease: Lease | undefined,
    key: string | undefined,
  ): Promise<OfflineAnswer | OfflineProblem> {
    if (!kept.user || !lease) return 'no_lease'
    if (key !== undefined && kept.key !== key) return 'no_lease'
    const now = this.#now()
    const problem = judge(kept, lease.iat, lease.graceUntil, now)
    if (problem) return problem
    await this.#noteTime(kept, lease.iat, now)
    return {
      user: { ...kept.user, _id: lease.sub, features: lease.features, variables: {} },
      offline: {
        until: toIso(lease.exp),
        graceUntil: toIso(lease.graceUntil),
        inGrace: now >= lease.exp,
      },
    }
  }

  /** Answers from the activation alone, or says why it cannot. */
  answerFromActivation(hwid: string): Promise<OfflineAnswer | OfflineProblem> {
    return this.#alone(async () => this.#answerFromActivation(await this.#load(), hwid, undefined))
  }

  async #answerFromActivation(
    kept: Kept,
    hwid: string,
    key: string | undefined,
  ): Promise<OfflineAnswer | OfflineProblem> {
    const activation = await this.#readActivation(kept, hwid)
    if (!activation || (key !== undefined && kept.activation?.licenseKey !== key)) return 'no_lease'
    const now = this.#now()
    const problem = judge(kept, activation.iat, activation.exp, now)
    if (problem) return problem
    await this.#noteTime(kept, activation.iat, now)
    return toActivated(activation, now)
  }

  /** The nonce of the request that waits for a file, 16 hex digits; a new one unless this key has one. */
  requestNonce(licenseKey: string): Promise<string> {
    return this.#alone(async () => {
      const kept = await this.#load()
      const key = await sha256Hex(licenseKey)
      const { pending } = kept.activation ?? {}
      if (pending?.licenseKey === key) return pending.nonce
      const nonce = toHex(platform.randomBytes(nonceBytes))
      const activation = { ...kept.activation, pending: { nonce, licenseKey: key } }
      await this.#store({ ...kept, activation })
      return nonce
    })
  }

  /** Accepts a file that answers the pending request. */
  activate(file: string, hwid: string): Promise<OfflineAnswer | ActivationProblem> {
    return this.#alone(async () => {
      const found = await this.#findActivation(file, hwid)
      if (!found) return 'not_for_this_machine'
      const { line, activation } = found
      const kept = await this.#load()
      const { pending } = kept.activation ?? {}
      if (pending?.nonce !== activation.nonce) return 'other_request'
      const now = this.#now()
      const problem = judge(kept, activation.iat, activation.exp, now)
      if (problem) return problem
      const latest = Math.max(kept.latest, activation.iat, Math.floor(now))
      await this.#store({ ...kept, latest, activation: { file: line, ...pending } })
      return toActivated(activation, now)
    })
  }

  /** Forgets the activation and the pending request; returns the code, or undefined without an activation. */
  deactivate(hwid: string): Promise<string | undefined> {
    return this.#alone(async () => {
      const kept = await this.#load()
      const activation = await this.#readActivation(kept, hwid)
      if (activation) await this.#store({ ...kept, activation: undefined })
      return activation?.deactivation
    })
  }

  async #findActivation(file: string, hwid: string) {
    for (const line of linesOf(file)) {
      const activation = await readActivation(line, this.#subject(hwid))
      if (activation) return { line, activation }
    }
    return undefined
  }

  async #readActivation({ activation: kept }: Kept, hwid: string): Promise<Activation | undefined> {
    const activation =
      kept?.file === undefined ? undefined : await readActivation(kept.file, this.#subject(hwid))
    return activation?.nonce === kept?.nonce ? activation : undefined
  }

  #subject = (hwid: string): Subject => ({ appId: this.#appId, hwid, keys: this.#keys })

  /** Notes the latest time, from which the clock cannot go back. */
  async #noteTime(kept: Kept, iat: number, now: number): Promise<void> {
    if (now > Math.max(kept.latest, iat)) await this.#write({ ...kept, latest: Math.floor(now) })
  }

  async #read(hwid: string): Promise<{ kept: Kept; lease: Lease | undefined }> {
    const kept = await this.#load()
    return { kept, lease: await readLease(kept.lease, this.#subject(hwid)) }
  }

  async #load(): Promise<Kept> {
    let text: string | null
    try {
      text = await this.#storage.read()
    } catch {
      return { ...nothing, isUnreadable: true }
    }
    // Members that other versions have written are kept.
    const { lease, latest, user, key, deviceToken, activation, ...others } = parseObject(text || '{}')
    return {
      ...others,
      lease: typeof lease === 'string' ? lease : '',
      latest: typeof latest === 'number' ? latest : 0,
      user: typeof user === 'object' ? (user as SessionUser | null) : null,
      key: typeof key === 'string' ? key : null,
      deviceToken: typeof deviceToken === 'string' ? deviceToken : undefined,
      activation: toKeptActivation(activation),
    }
  }

  /** One change after the other, so that none is lost, also those of other programs. */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#locked(change))
    this.#last = result.catch(() => {})
    return result
  }

  async #locked<T>(change: () => Promise<T>): Promise<T> {
    let running: Promise<T> | undefined
    const run = () => {
      running ??= change()
      return running
    }
    try {
      await this.#storage.lock?.(run)
    } catch {
      // A lock that fails must not stop the program.
    }
    return run()
  }

  async #write(kept: Kept): Promise<void> {
    // A full disk must not stop a program that is online.
    await this.#store(kept).catch(() => {})
  }

  /** Throws `StorageFailure` unless the change is stored. */
  async #store({ isUnreadable, ...kept }: Kept): Promise<void> {
    if (isUnreadable) throw new StorageFailure('The storage cannot be read')
    try {
      await this.#storage.write(JSON.stringify(kept))
    } catch (cause) {
      throw new StorageFailure('The storage cannot be written', { cause })
    }
  }
}

/** Why a statement of `iat` that ends at `end` does not help at `now`; all in seconds. */
function judge(
  { latest }: Kept,
  iat: number,
  end: number | null,
  now: number,
): 'clock_set_back' | 'lease_ended' | undefined {
  if (now < Math.max(latest, iat) - clockToleranceS) return 'clock_set_back'
  return end !== null && now >= end ? 'lease_ended' : undefined
}

const withoutFile = ({ activation }: Kept): KeptActivation | undefined =>
  activation?.pending && { pending: activation.pending }

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
