import { Fallback } from './fallback.ts'
import { Flight } from './flight.ts'
import { granted, overtaken, unexpected } from './granted.ts'
import type { Identity } from './identity.ts'
import { toTexts } from './lease.ts'
import { leaseEndings } from './lease-endings.ts'
import type { CheckedOptions } from './options.ts'
import { LeaseRenewal } from './renewal.ts'
import {
  check,
  type IsCurrent,
  isSignedOut,
  keptToken,
  type Limits,
  type Opened,
  type SessionCall,
} from './session-calls.ts'
import type { Call, Transport } from './transport.ts'
import type { Granted, InitData, Refused, Result, SessionUser, UserData, ValidateData } from './types.ts'
import { sdk } from './version.ts'

/** The session with the server, the user who is signed in, and what answers for both while the server is away. */
export class Session {
  readonly #options: CheckedOptions
  readonly #transport: Transport
  readonly #identity: Identity
  readonly #renewal: LeaseRenewal | undefined
  #token: string | undefined
  #user: SessionUser | undefined
  /** By the last answer of the server, for the time without it. */
  #known: SessionUser | undefined
  #public: Record<string, string> = {}
  /** The license key that signed in. */
  #key: string | undefined
  #signOuts = 0
  readonly #fallback: Fallback
  readonly #opening = new Flight<Opened>()
  readonly #resuming = new Flight<Result<UserData> | undefined>()
  readonly #signingIn = new Flight<Result<UserData> | undefined>()

  constructor(options: CheckedOptions, transport: Transport, identity: Identity) {
    this.#options = options
    this.#transport = transport
    this.#identity = identity
    this.#fallback = new Fallback(options, identity)
    this.#renewal = options.offline && new LeaseRenewal(options.offline, transport)
  }

  get user(): SessionUser | undefined {
    return this.#user
  }

  get publicVariables(): Record<string, string> {
    return this.#public
  }

  deadline(): number {
    return performance.now() + this.#options.timeoutMs
  }

  /** Ask for it before anything else of a call is awaited. */
  untilSignOut(): IsCurrent {
    const signOuts = this.#signOuts
    return () => signOuts === this.#signOuts
  }

  /** Opens a session, signed out. */
  async open(): Promise<Result<InitData>> {
    this.#key = undefined
    this.#fallback.reset()
    return (await this.#open(this.deadline())).result
  }

  async #open(deadline: number): Promise<Opened> {
    const { appId, secret, version, hash, locale } = this.#options
    const body = { appId, secret, version, hash, hwid: await this.#identity.hwid(), locale, sdk }
    const outcome = await this.#transport.send(
      { method: 'POST', name: 'init', body, repeatable: true },
      deadline,
    )
    if (!outcome.ok) {
      this.#user = undefined
      return { result: outcome }
    }
    const { session, ...data } = outcome.data
    if (typeof session !== 'string' || !/^[\x21-\x7e]{1,1024}$/.test(session)) throw unexpected('init')
    const opened = granted<InitData>({ ...outcome, data }, 'app')
    this.#token = session
    this.#user = undefined
    this.#public = toTexts(opened.variables)
    return { result: opened, token: session }
  }

  /** Ends the session on this machine and returns its token. */
  async signOut(): Promise<string | undefined> {
    const token = this.#token
    this.#signOuts += 1
    this.#token = undefined
    this.#user = undefined
    this.#known = undefined
    this.#key = undefined
    this.#fallback.reset()
    await this.#options.offline?.forget()
    return token
  }

  /**
   * A call of the signed-in user; without one it is `sessionUnauthed`. One with a license key needs no user, so a session
   * that has ended is opened again.
   */
  async signedIn<Data>(call: SessionCall, required?: keyof Data & string): Promise<Result<Data>> {
    const deadline = this.deadline()
    for (let reopen = call.body?.licenseKey !== undefined; ; reopen = false) {
      const { result, token } = await this.#openIfNeeded(deadline)
      if (token === undefined) return result
      const outcome = await this.#transport.send({ ...call, session: token }, deadline)
      if (outcome.ok) return granted<Data>(outcome, required)
      if (outcome.code !== 'sessionUnauthed' || !reopen) return outcome
      if (this.#token === token) this.#token = undefined
    }
  }

  /** Adds a key to the user of that name, who may be another one than the signed-in user. */
  upgrade(call: SessionCall): Promise<Result<UserData>> {
    return this.#call(
      call,
      this.#limits(() => true),
    )
  }

  async signIn(
    call: SessionCall,
    isCurrent: IsCurrent,
    { licenseKey, timeoutMs }: { licenseKey?: string; timeoutMs?: number } = {},
  ): Promise<Result<UserData>> {
    const limits = this.#limits(isCurrent, timeoutMs)
    const result = await this.#kept((passed) => this.#call(call, passed), limits, licenseKey)
    if (result.ok && isCurrent()) this.#key = licenseKey
    return result
  }

  /** Whether the user may go on; signs in again with a remembered sign-in or the key that signed in. */
  async check(isCurrent: IsCurrent, timeoutMs?: number): Promise<Result<UserData>> {
    const limits = this.#limits(isCurrent, timeoutMs)
    const result = await this.#kept((passed) => this.#check(passed), limits)
    if (!isSignedOut(result) || !isCurrent()) return result
    return (await this.#signInByKey(limits)) ?? (await this.#activated(isCurrent)) ?? result
  }

  /** A call that what is stored may answer in place of the server. */
  orOffline(
    name: 'license' | 'session',
    online: (timeoutMs?: number) => Promise<Result<UserData>>,
    isCurrent: IsCurrent,
    licenseKey?: string,
  ): Promise<Result<UserData>> {
    const onAnswer = (answer: Granted<UserData>) => {
      if (licenseKey !== undefined && isCurrent()) this.#key = licenseKey
      return this.#signInOffline(answer, isCurrent)
    }
    return this.#fallback.run({ name, licenseKey, isCurrent, online, onAnswer })
  }

  #signInOffline(answer: Granted<UserData>, isCurrent: IsCurrent): Result<UserData> {
    if (!isCurrent()) return overtaken()
    const { user } = answer
    const known = this.#known?._id === user._id ? toTexts(this.#known.variables) : {}
    this.#user = { ...user, variables: { ...user.variables, ...known } }
    return { ...answer, user: this.#user }
  }

  /** Signs in the user of an activation that was just stored. */
  activate(user: SessionUser, isCurrent: IsCurrent): void {
    if (isCurrent()) this.#user = user
  }

  forgetUser(): void {
    this.#user = undefined
  }

  #limits(isCurrent: IsCurrent, timeoutMs = this.#options.timeoutMs): Limits {
    return { deadline: performance.now() + timeoutMs, isCurrent }
  }

  async #check(limits: Limits): Promise<Result<UserData>> {
    for (;;) {
      const before = this.#token === undefined ? await this.#resumeOnce(limits) : undefined
      if (before) return before
      const result = await this.#call(check, limits, false)
      if (!isSignedOut(result)) return result
      const after = this.#token === undefined ? await this.#resumeOnce(limits) : undefined
      if (after) return after
      // Another call may have opened a session meanwhile, which may have a user.
      if (this.#token === undefined || !limits.isCurrent()) return result
    }
  }

  /** Signs in with the key of the last sign-in; undefined if that was none by key. */
  async #signInByKey({ deadline, isCurrent }: Limits): Promise<Result<UserData> | undefined> {
    const licenseKey = this.#key
    if (licenseKey === undefined) return undefined
    return this.#signingIn.run(async () => {
      // Another call has signed in since this one was refused.
      if (this.#token !== undefined && this.#user) {
        const passed = { deadline, isCurrent }
        const checked = await this.#kept((each) => this.#call(check, each, false), passed)
        if (!isSignedOut(checked)) return checked
      }
      // A vendor who deleted the user has freed the key for somebody else.
      const isFreed = await this.#isUnused(licenseKey, deadline)
      if (isFreed) this.#key = undefined
      if (isFreed || !isCurrent()) return undefined
      const body = { licenseKey, ...(await this.#identity.signInFacts()) }
      const call: SessionCall = { method: 'POST', name: 'license', body, repeatable: true }
      const timeoutMs = deadline - performance.now()
      const result = await this.signIn(call, isCurrent, { licenseKey, timeoutMs })
      if (!result.ok && result.code === 'keyNotFound') this.#key = undefined
      return result
    }, deadline)
  }

  async #isUnused(licenseKey: string, deadline: number): Promise<boolean> {
    const { appId, locale } = this.#options
    const body = { appId, licenseKey, ...(await this.#identity.facts()), locale }
    const call: Call = { method: 'POST', name: 'validate', body, repeatable: true }
    const outcome = await this.#transport.send(call, deadline)
    if (!outcome.ok || outcome.data.valid !== true) return false
    return !granted<ValidateData>(outcome, 'license').license.used
  }

  /** The session, or the refusal to open one. Concurrent calls share one `init`. */
  async #openIfNeeded(
    deadline: number,
  ): Promise<{ result: Refused; token?: never } | { result?: never; token: string }> {
    if (this.#token !== undefined) return { token: this.#token }
    const { result, token } = await this.#opening.run(() => this.#open(deadline), deadline)
    return token === undefined ? { result } : { token }
  }

  /** A call that signs in or needs a session; opens a new one and repeats the call if it has ended. */
  async #call(call: SessionCall, limits: Limits, reopen = true): Promise<Result<UserData>> {
    const { deadline, isCurrent } = limits
    for (;;) {
      if (!isCurrent()) return overtaken()
      const { result: refused, token } = await this.#openIfNeeded(deadline)
      if (refused) return refused
      // Sent now, it would sign in the user who has signed out meanwhile.
      if (!isCurrent()) return overtaken()
      const outcome = await this.#transport.send({ ...call, session: token }, deadline)
      if (outcome.ok) {
        limits.token = token
        return this.#remember(call, granted<UserData>(outcome, 'user'), token, isCurrent)
      }
      // A refusal ends what the license included, until the next success.
      if (call.name === 'session' && isCurrent()) this.#user = undefined
      if (outcome.code !== 'sessionUnauthed') return outcome
      if (this.#token === token) this.#token = undefined
      if (!reopen || !isCurrent()) return outcome
      reopen = false
    }
  }

  #remember(
    { name }: SessionCall,
    result: Granted<UserData>,
    token: string,
    isCurrent: IsCurrent,
  ): Result<UserData> {
    // An upgrade may concern another user than the signed-in one.
    if (name === 'upgrade') return result
    if (isCurrent()) {
      this.#user = result.user
      this.#known = result.user
      return result
    }
    if (this.#token === token) this.#token = undefined
    return overtaken()
  }

  /** Renews the lease after a success, and forgets it after a refusal that would hold offline, too. */
  async #kept(
    online: (limits: Limits) => Promise<Result<UserData>>,
    limits: Limits,
    licenseKey?: string,
  ): Promise<Result<UserData>> {
    const { isCurrent } = limits
    const result = await online(limits)
    this.#fallback.reset()
    const { offline } = this.#options
    if (!isCurrent()) return result.ok ? overtaken() : result
    const hasEnded = !result.ok && leaseEndings.has(result.code)
    if (hasEnded) this.#user = this.#known = undefined
    if (!offline) return result
    const hwid = await this.#identity.hwid()
    const { serverTime } = this.#transport
    if (serverTime !== undefined) await offline.correctTime(serverTime, hwid)
    if (hwid === undefined) return result
    if (!result.ok) {
      if (hasEnded && isCurrent()) await offline.forgetLease()
      return result
    }
    const shown = await keptToken(offline, result, isCurrent)
    const { token, deadline } = limits
    if (token !== undefined)
      await this.#renewal?.run({ hwid, user: shown.user, licenseKey, session: token, deadline, isCurrent })
    return isCurrent() ? shown : overtaken()
  }

  /** Concurrent calls share one sign-in, because each replaces the token. */
  #resumeOnce(limits: Limits): Promise<Result<UserData> | undefined> {
    return this.#resuming.run(() => this.#resume(limits), limits.deadline)
  }

  /** Signs in with the remembered sign-in; undefined without one, or if the server has ended it. */
  async #resume(limits: Limits): Promise<Result<UserData> | undefined> {
    const { offline } = this.#options
    const deviceToken = await offline?.deviceToken()
    if (!offline || deviceToken === undefined) return undefined
    const facts = await this.#identity.facts()
    if (facts.hwid === undefined) return undefined
    // The server accepts the same token again if its answer was lost.
    const body = { deviceToken, ...facts }
    const call: SessionCall = { method: 'POST', name: 'resume', body, repeatable: true }
    const result = await this.#call(call, limits, false)
    if (result.ok) return keptToken(offline, result, limits.isCurrent)
    if (result.code !== 'sessionUnauthed') return result
    await offline.dropDeviceToken(deviceToken)
    return undefined
  }

  /** Answers from the activation of this machine; undefined if there is none that helps. */
  async #activated(isCurrent: IsCurrent): Promise<Result<UserData> | undefined> {
    const { offline, log } = this.#options
    const hwid = offline && (await this.#identity.hwid())
    const answer = hwid === undefined ? undefined : await offline?.answerFromActivation(hwid)
    if (typeof answer !== 'object') return undefined
    log({ event: 'offline', call: 'session', code: 'sessionUnauthed' })
    return this.#signInOffline({ ...answer, ok: true }, isCurrent)
  }
}
