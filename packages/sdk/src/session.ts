import { KeywardNetworkError } from './errors.ts'
import { granted, overtaken, unexpected } from './granted.ts'
import type { Identity } from './identity.ts'
import type { Offline } from './offline.ts'
import type { CheckedOptions } from './options.ts'
import { LeaseRenewal } from './renewal.ts'
import type { Call, Delivered, Transport } from './transport.ts'
import type { Granted, InitData, Refused, Result, SessionUser, UserData } from './types.ts'
import { sdk } from './version.ts'

/** Refusals of the user, the key or the device; mistyped input is not one. */
const endsLease = new Set<string>([
  'userBanned',
  'keyBanned',
  'pausedSub',
  'noActiveSubs',
  'updatesEnded',
  'hwidBlacklisted',
  'hwidMismatch',
  'notActivated',
  'trialUsed',
])

export type SessionCall = Pick<Call, 'method' | 'name' | 'body' | 'repeatable'>

/** Whether no sign-out has begun since a call. */
type IsCurrent = () => boolean

interface Limits {
  /** When the call ends, a time of `performance.now()`. */
  deadline: number
  isCurrent: IsCurrent
}

const check: SessionCall = { method: 'GET', name: 'session', repeatable: true }

/** The session with the server, the user who is signed in, and what answers for both while the server is away. */
export class Session {
  readonly #options: CheckedOptions
  readonly #transport: Transport
  readonly #identity: Identity
  readonly #renewal: LeaseRenewal | undefined
  #token: string | undefined
  #user: SessionUser | undefined
  #public: Record<string, string> = {}
  #opening: Promise<Result<InitData>> | undefined
  #resuming: Promise<Result<UserData> | undefined> | undefined
  #signOuts = 0

  constructor(options: CheckedOptions, transport: Transport, identity: Identity) {
    this.#options = options
    this.#transport = transport
    this.#identity = identity
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
  async open(deadline: number): Promise<Result<InitData>> {
    const { appId, secret, version, hash, locale } = this.#options
    const body = { appId, secret, version, hash, hwid: await this.#identity.hwid(), locale, sdk }
    const outcome = await this.#transport.send(
      { method: 'POST', name: 'init', body, repeatable: true },
      deadline,
    )
    if (!outcome.ok) {
      this.#user = undefined
      return outcome
    }
    const { session, ...data } = outcome.data
    if (typeof session !== 'string' || !/^[\x21-\x7e]{1,1024}$/.test(session)) throw unexpected('init')
    const opened = granted<InitData>({ ...outcome, data }, 'app')
    this.#token = session
    this.#user = undefined
    this.#public = toTexts(opened.variables)
    return opened
  }

  /** Ends the session on this machine and returns its token. */
  async signOut(): Promise<string | undefined> {
    const token = this.#token
    this.#signOuts += 1
    this.#token = undefined
    this.#user = undefined
    await this.#options.offline?.forget()
    return token
  }

  /** A call of the signed-in user; without one it is `sessionUnauthed`. */
  async signedIn<Data>(call: SessionCall, required?: keyof Data & string): Promise<Result<Data>> {
    const deadline = this.deadline()
    const refused = await this.#openIfNeeded(deadline)
    if (refused) return refused
    const outcome = await this.#send(call, this.#token, deadline)
    return outcome.ok ? granted<Data>(outcome, required) : outcome
  }

  /** Adds a key to the user of that name, who may be another one than the signed-in user. */
  upgrade(call: SessionCall): Promise<Result<UserData>> {
    return this.#call(call, { deadline: this.deadline(), isCurrent: () => true })
  }

  async signIn(call: SessionCall, isCurrent: IsCurrent, licenseKey?: string): Promise<Result<UserData>> {
    return this.#kept((limits) => this.#call(call, limits), isCurrent, licenseKey)
  }

  /** Whether the user may go on; signs in again where the app remembers sign-ins. */
  async check(isCurrent: IsCurrent): Promise<Result<UserData>> {
    const result = await this.#kept((limits) => this.#check(limits), isCurrent)
    return isSignedOut(result) && isCurrent() ? ((await this.#activated(isCurrent)) ?? result) : result
  }

  /** Answers from the lease or the activation if the server is not reached. */
  async orOffline(
    call: 'license' | 'session',
    online: () => Promise<Result<UserData>>,
    isCurrent: IsCurrent,
    licenseKey?: string,
  ): Promise<Result<UserData>> {
    try {
      return await online()
    } catch (error) {
      const { offline, log } = this.#options
      if (!offline || !(error instanceof KeywardNetworkError) || error.code === 'unexpected_answer')
        throw error
      const hwid = await this.#identity.hwid()
      if (hwid === undefined) throw error
      const answer = await offline.answer(hwid, licenseKey)
      if (typeof answer === 'object') {
        log({ event: 'offline', call, code: error.code })
        return this.#ifCurrent({ ...answer, ok: true }, isCurrent)
      }
      error.offline = answer
      throw error
    }
  }

  /** Signs in the user of an activation that was just stored. */
  activate(user: SessionUser, isCurrent: IsCurrent): void {
    if (isCurrent()) this.#user = user
  }

  forgetUser(): void {
    this.#user = undefined
  }

  async #check(limits: Limits): Promise<Result<UserData>> {
    const resumed = this.#token === undefined ? await this.#resumeOnce(limits) : undefined
    if (resumed) return resumed
    const result = await this.#call(check, limits, false)
    return isSignedOut(result) ? ((await this.#resumeOnce(limits)) ?? result) : result
  }

  /** Concurrent calls share one `init`. Returns the refusal, if there is one. */
  async #openIfNeeded(deadline: number): Promise<Refused | undefined> {
    if (this.#token !== undefined) return undefined
    this.#opening ??= this.open(deadline).finally(() => {
      this.#opening = undefined
    })
    const opened = await this.#opening
    return opened.ok ? undefined : opened
  }

  #send(call: SessionCall, token: string | undefined, deadline: number): Promise<Delivered | Refused> {
    return this.#transport.send({ ...call, ...(token ? { session: token } : {}) }, deadline)
  }

  /** A call that signs in or needs a session; opens a new one and repeats the call if it has ended. */
  async #call(call: SessionCall, { deadline, isCurrent }: Limits, reopen = true): Promise<Result<UserData>> {
    for (;;) {
      const refused = isCurrent() ? await this.#openIfNeeded(deadline) : overtaken()
      if (refused) return refused
      // Sent now, it would sign in the user who has signed out meanwhile.
      if (!isCurrent()) return overtaken()
      const token = this.#token
      const outcome = await this.#send(call, token, deadline)
      if (outcome.ok) return this.#remember(call, granted<UserData>(outcome, 'user'), token, isCurrent)
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
    token: string | undefined,
    isCurrent: IsCurrent,
  ): Result<UserData> {
    // An upgrade may concern another user than the signed-in one.
    if (name === 'upgrade') return result
    if (!isCurrent() && this.#token === token) this.#token = undefined
    return this.#ifCurrent(result, isCurrent)
  }

  /** Signs the user of an answer in, unless a sign-out has overtaken the answer. */
  #ifCurrent(result: Granted<UserData>, isCurrent: IsCurrent): Result<UserData> {
    if (!isCurrent()) return overtaken()
    this.#user = result.user
    return result
  }

  /** Renews the lease after a success, and forgets it after a refusal that would hold offline, too. */
  async #kept(
    online: (limits: Limits) => Promise<Result<UserData>>,
    isCurrent: IsCurrent,
    licenseKey?: string,
  ): Promise<Result<UserData>> {
    const limits = { deadline: this.deadline(), isCurrent }
    const result = await online(limits)
    const { offline } = this.#options
    if (!isCurrent()) return result.ok ? overtaken() : result
    const hasEnded = !result.ok && endsLease.has(result.code)
    if (hasEnded) this.#user = undefined
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
    const { user } = shown
    await this.#renewal?.run({ hwid, user, licenseKey, session: this.#token, ...limits })
    return isCurrent() ? shown : overtaken()
  }

  /** Concurrent calls share one sign-in, because each replaces the token. */
  #resumeOnce(limits: Limits): Promise<Result<UserData> | undefined> {
    this.#resuming ??= this.#resume(limits).finally(() => {
      this.#resuming = undefined
    })
    return this.#resuming
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
    return this.#ifCurrent({ ...answer, ok: true }, isCurrent)
  }
}

const isSignedOut = (result: Result<UserData>) => !result.ok && result.code === 'sessionUnauthed'

/** Stores the token of a remembered sign-in, which programs never see, unless the user has signed out meanwhile. */
async function keptToken(
  offline: Offline,
  result: Granted<UserData>,
  isCurrent: IsCurrent,
): Promise<Granted<UserData>> {
  const { deviceToken, ...shown } = result as Granted<UserData> & { deviceToken?: unknown }
  if (typeof deviceToken === 'string' && isCurrent()) await offline.keepDeviceToken(deviceToken)
  return shown
}

/** Servers of earlier versions send no variables. */
export const toTexts = (variables: unknown): Record<string, string> =>
  typeof variables === 'object' && variables !== null ? (variables as Record<string, string>) : {}
