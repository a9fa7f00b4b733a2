import { platform } from '#platform'
import { type Activation, linesOf, nonceBytes, readActivation, toActivated, toIso } from './activation.ts'
import { toHex } from './bytes.ts'
import { endsOf, featuresAt, type Subject, sha256Hex } from './jws.ts'
import { type Kept, load, nothing, StorageFailure, store, withoutFile } from './kept.ts'
import type { KeyRing } from './keys.ts'
import { type Lease, readLease, toTexts } from './lease.ts'
import { SeenTime } from './seen-time.ts'
import type { KeywardStorage, OfflineState, SessionUser } from './types.ts'

export { StorageFailure }

/** How far a clock may lag behind the highest time that the server has signed, in seconds. */
const clockToleranceS = 300
/** The same for a file, and for a lease of days: the clock may be set to the farthest time zone. */
const timeZoneToleranceS = 14 * 3_600
const daysLongS = 72 * 3_600

/** Why the stored lease does not help. */
export type OfflineProblem = 'no_lease' | 'lease_ended' | 'clock_set_back'

interface OfflineAnswer {
  user: SessionUser
  offline: OfflineState
}

/** A statement that holds now. */
interface Found extends OfflineAnswer {
  /** The time by which it was judged; undefined where nothing ends, which no clock concerns. */
  now: number | undefined
  lease?: Lease
}

/** Why a file was not accepted. */
export type ActivationProblem = 'not_for_this_machine' | 'other_request' | 'lease_ended' | 'clock_set_back'

/** Keeps the latest lease of a device, and answers with it while the server cannot be reached. */
export class Offline {
  readonly #storage: KeywardStorage
  readonly #appId: string
  readonly #keys: KeyRing
  readonly #time: SeenTime
  /** The highest number of a lease that this program has seen, by user. */
  readonly #seen = new Map<string, number>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(storage: KeywardStorage, appId: string, keys: KeyRing, now = () => Date.now() / 1000) {
    this.#storage = storage
    this.#appId = appId
    this.#keys = keys
    this.#time = new SeenTime(now)
  }

  /** Whether a new lease is due for this user. */
  async isDue(hwid: string, userId: string): Promise<boolean> {
    const { lease } = await this.#read(hwid)
    return lease?.sub !== userId || this.#time.now() >= lease.refreshAfter
  }

  /** Stores a lease that the server has just issued; ignores one that is not valid, or older than the stored one. */
  keep(text: string, hwid: string, user: SessionUser, licenseKey: string | undefined): Promise<void> {
    return this.#alone(() => this.#keep(text, hwid, user, licenseKey))
  }

  async #keep(text: string, hwid: string, user: SessionUser, licenseKey: string | undefined): Promise<void> {
    const lease = await readLease(text, this.#subject(hwid))
    const { kept, lease: stored } = await this.#read(hwid)
    if (!lease || this.#isOlder(lease) || (stored?.sub === lease.sub && stored.seq > lease.seq)) return
    this.#seen.set(lease.sub, lease.seq)
    const key = licenseKey === undefined ? (stored?.sub === lease.sub ? kept.key : null) : licenseKey
    // A clock that is ahead must not count: the server has just said what time it is.
    const { boot } = await this.#time.note(kept, Math.min(this.#time.now(), lease.iat))
    await this.#write({
      ...kept,
      lease: text,
      latest: Math.max(kept.latest, lease.iat),
      boot,
      user,
      key: licenseKey === undefined ? key : await sha256Hex(licenseKey),
    })
  }

  /**
   * Corrects the latest time after a clock that was far ahead. `serverTime` is when the server signed the answer to a
   * request of just now; an attacker can neither choose nor repeat it.
   */
  async correctTime(serverTime: number, hwid: string | undefined): Promise<void> {
    const isAhead = (kept: Kept) => this.#time.isAhead(kept, serverTime, clockToleranceS)
    if (!(await isAhead(await this.#load()))) return
    await this.#alone(async () => {
      const kept = await this.#load()
      if (!(await isAhead(kept))) return
      const lease = hwid === undefined ? undefined : await readLease(kept.lease, this.#subject(hwid))
      this.#time.forget()
      const latest = Math.min(kept.latest, Math.max(serverTime, lease?.iat ?? 0))
      await this.#write({ ...kept, latest, boot: undefined })
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

  /** Whether `answer` would answer now. */
  wouldAnswer(hwid: string, licenseKey: string | undefined): Promise<boolean> {
    return this.#inTurn(
      async () => typeof (await this.#find(await this.#load(), hwid, licenseKey)) === 'object',
    )
  }

  /** Answers from the lease, or says why it cannot. `licenseKey` must be the key that signed in, if it is given. */
  answer(hwid: string, licenseKey: string | undefined): Promise<OfflineAnswer | OfflineProblem> {
    return this.#alone(async () => {
      const kept = await this.#load()
      return this.#used(kept, await this.#find(kept, hwid, licenseKey))
    })
  }

  /** Answers from the activation alone, or says why it cannot. */
  answerFromActivation(hwid: string): Promise<OfflineAnswer | OfflineProblem> {
    return this.#alone(async () => {
      const kept = await this.#load()
      return this.#used(kept, await this.#findActivation(kept, hwid, undefined))
    })
  }

  async #find(kept: Kept, hwid: string, licenseKey: string | undefined): Promise<Found | OfflineProblem> {
    const key = licenseKey === undefined ? undefined : await sha256Hex(licenseKey)
    const leased = await this.#findLease(kept, hwid, key)
    if (typeof leased === 'object') return leased
    const activated = await this.#findActivation(kept, hwid, key)
    return typeof activated === 'object' || leased === 'no_lease' ? activated : leased
  }

  async #findLease(kept: Kept, hwid: string, key: string | undefined): Promise<Found | OfflineProblem> {
    const lease = await readLease(kept.lease, this.#subject(hwid))
    if (!kept.user || !lease || this.#isOlder(lease)) return 'no_lease'
    if (key !== undefined && kept.key !== key) return 'no_lease'
    const isDaysLong = lease.graceUntil - lease.iat >= daysLongS
    const tolerance = isDaysLong ? timeZoneToleranceS : clockToleranceS
    const judged = await this.#judge(kept, lease.iat, lease.graceUntil, tolerance)
    if (typeof judged === 'string') return judged
    const variables = toTexts(lease.variables)
    return {
      ...judged,
      lease,
      user: { ...kept.user, _id: lease.sub, features: featuresAt(lease, judged.now), variables },
      offline: {
        until: toIso(lease.exp),
        graceUntil: toIso(lease.graceUntil),
        inGrace: judged.now >= lease.exp,
      },
    }
  }

  async #findActivation(kept: Kept, hwid: string, key: string | undefined): Promise<Found | OfflineProblem> {
    const activation = await this.#readActivation(kept, hwid)
    if (!activation || (key !== undefined && kept.activation?.licenseKey !== key)) return 'no_lease'
    const { iat, exp, featuresUntil } = activation
    if (exp === null && endsOf(featuresUntil).length === 0)
      return { ...toActivated(activation, this.#time.now()), now: undefined }
    const judged = await this.#judge(kept, iat, exp ?? Number.POSITIVE_INFINITY, timeZoneToleranceS)
    if (typeof judged === 'object') return { ...toActivated(activation, judged.now), ...judged }
    // A file without an end goes on, without the features that end.
    return exp === null ? { ...toActivated(activation, Number.POSITIVE_INFINITY), now: undefined } : judged
  }

  /** Whether a statement of `iat` that ends at `end` helps now; all in seconds. */
  async #judge(
    kept: Kept,
    iat: number,
    end: number,
    tolerance: number,
  ): Promise<{ now: number } | 'clock_set_back' | 'lease_ended'> {
    const clock = this.#time.now()
    const floor = Math.max(iat, await this.#time.floor(kept))
    if (clock < floor - tolerance) return 'clock_set_back'
    // A clock that lags must not hold up the time that is noted: it could be set back again after every restart.
    const now = Math.max(clock, floor)
    return now >= end ? 'lease_ended' : { now }
  }

  /** Notes the time at which a statement was used, from which the clock cannot go back. */
  async #used(kept: Kept, found: Found | OfflineProblem): Promise<OfflineAnswer | OfflineProblem> {
    if (typeof found === 'string') return found
    const { now, lease, ...answer } = found
    if (lease) this.#seen.set(lease.sub, lease.seq)
    if (now === undefined) return answer
    const { latest, boot } = await this.#time.note(kept, now)
    if (latest > kept.latest || boot !== kept.boot) await this.#write({ ...kept, latest, boot })
    return answer
  }

  /** Whether this program has seen a newer lease: an older one was copied back. */
  #isOlder({ sub, seq }: Lease): boolean {
    return seq < (this.#seen.get(sub) ?? seq)
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

  /** Accepts a file that answers the pending request. It is newer than that, so it corrects the time that was seen. */
  activate(file: string, hwid: string): Promise<OfflineAnswer | ActivationProblem> {
    return this.#alone(async () => {
      const found = await this.#findLine(file, hwid)
      if (!found) return 'not_for_this_machine'
      const { line, activation } = found
      const kept = await this.#load()
      const { pending } = kept.activation ?? {}
      if (pending?.nonce !== activation.nonce) return 'other_request'
      const { iat, exp } = activation
      const now = this.#time.now()
      if (exp !== null && now < iat - timeZoneToleranceS) return 'clock_set_back'
      if (exp !== null && now >= exp) return 'lease_ended'
      await this.#store({ ...kept, latest: iat, boot: undefined, activation: { file: line, ...pending } })
      this.#time.forget()
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

  async #findLine(file: string, hwid: string) {
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

  async #read(hwid: string): Promise<{ kept: Kept; lease: Lease | undefined }> {
    const kept = await this.#load()
    return { kept, lease: await readLease(kept.lease, this.#subject(hwid)) }
  }

  #load = (): Promise<Kept> => load(this.#storage)

  /** One change after the other, so that none is lost, also those of other programs. */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#locked(change))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
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

  #store = (kept: Kept): Promise<void> => store(this.#storage, kept)
}
