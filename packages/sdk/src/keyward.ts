import { platform } from '#platform'
import { encodeRequest, licenseKeyMax } from './activation.ts'
import { fromHex } from './bytes.ts'
import { KeywardNetworkError, KeywardUsageError } from './errors.ts'
import { type ActivationProblem, type Offline, StorageFailure } from './offline.ts'
import { type CheckedOptions, checkOptions } from './options.ts'
import { type Call, type Delivered, refusalFacts, Transport } from './transport.ts'
import type {
  Credentials,
  DeviceDescription,
  DevicesData,
  Granted,
  InitData,
  KeywardOptions,
  Registration,
  Result,
  SessionUser,
  Trial,
  Upgrade,
  UserData,
  ValidateData,
} from './types.ts'
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

interface Renewal {
  user: SessionUser
  licenseKey: string | undefined
  /** Whether no sign-out has begun since the call. */
  isCurrent(): boolean
}

type SessionCall = Pick<Call, 'method' | 'name' | 'body' | 'repeatable'>

/**
 * A program's client for its Keyward server. Every call resolves to a `Result`: `ok: true` with data, or `ok: false`
 * with `code` and `message` if the server refuses. Throws `KeywardNetworkError` without a usable response,
 * `KeywardSignatureError` for a response that is not genuine, `KeywardUsageError` for an invalid call.
 */
export class Keyward {
  readonly #options: CheckedOptions
  readonly #transport: Transport
  #session: string | undefined
  #user: SessionUser | undefined
  #public: Record<string, string> = {}
  #opening: Promise<Result<InitData>> | undefined
  #resuming: Promise<Result<UserData> | undefined> | undefined
  #signOuts = 0
  #hwid: Promise<string | undefined> | undefined
  #device: Promise<DeviceDescription | undefined> | undefined

  /** Throws `KeywardUsageError` (`invalid_options`) if an option is missing or invalid. Sends nothing. */
  constructor(options: KeywardOptions) {
    this.#options = checkOptions(options)
    this.#transport = new Transport(this.#options)
  }

  /**
   * Opens a session and reports whether the app is enabled and has a newer version. Other calls do this when needed.
   * Calling it again starts a new session, signed out.
   */
  async init(): Promise<Result<InitData>> {
    return this.#open(this.#deadline())
  }

  /**
   * Creates an end user from an unused license key and signs in. Never retried automatically: after a
   * `KeywardNetworkError` with `outcomeUnknown`, try `login` to find out whether it succeeded.
   */
  async register(registration: Registration): Promise<Result<UserData>> {
    const { username, password, licenseKey, email } = texts(registration, [
      'username',
      'password',
      'licenseKey',
    ])
    const body = { username, password, licenseKey: licenseKey.trim(), email, ...(await this.#signInFacts()) }
    return this.#kept(() => this.#call({ method: 'POST', name: 'register', body, repeatable: false }))
  }

  /** Signs an end user in by username and password; the first sign-in binds the user to this machine. */
  async login(credentials: Credentials): Promise<Result<UserData>> {
    const { username, password } = texts(credentials, ['username', 'password'])
    const body = { username, password, ...(await this.#signInFacts()) }
    return this.#kept(() => this.#call({ method: 'POST', name: 'login', body, repeatable: true }))
  }

  /** Signs in by license key alone; the first use redeems the key and binds it to this machine. */
  async license(licenseKey: string): Promise<Result<UserData>> {
    const key = toKey(licenseKey)
    const body = { licenseKey: key, ...(await this.#signInFacts()) }
    const online = () => this.#call({ method: 'POST', name: 'license', body, repeatable: true })
    return this.#orOffline('license', () => this.#kept(online, key), key)
  }

  /**
   * Redeems a key for an end user and adds the key's remaining time. Never retried automatically: after a
   * `KeywardNetworkError` with `outcomeUnknown`, compare the user's `expiresAt`.
   */
  async upgrade(upgrade: Upgrade): Promise<Result<UserData>> {
    const { username, licenseKey } = texts(upgrade, ['username', 'licenseKey'])
    const body = { username, licenseKey: licenseKey.trim() }
    return this.#call({ method: 'POST', name: 'upgrade', body, repeatable: false })
  }

  /**
   * Returns the signed-in user and its expiry; call it before every unit of work. A ban, pause or expiry is reported
   * from the next call on. `sessionUnauthed` means that no user is signed in. With the option `storage` it signs in again
   * by itself, if the vendor lets the app remember sign-ins.
   */
  async session(): Promise<Result<UserData>> {
    const online = async () => {
      const resumed = this.#session === undefined ? await this.#resumeOnce() : undefined
      if (resumed) return resumed
      const result = await this.#call({ method: 'GET', name: 'session', repeatable: true }, false)
      return result.ok || result.code !== 'sessionUnauthed' ? result : ((await this.#resumeOnce()) ?? result)
    }
    return this.#orOffline('session', async () => {
      const result = await this.#kept(online)
      const isSignedOut = !result.ok && result.code === 'sessionUnauthed'
      return isSignedOut ? ((await this.#activated()) ?? result) : result
    })
  }

  /** Ends the session. Always succeeds locally, even if the server is not reached or there is no session. */
  async logout(): Promise<Result<object>> {
    const session = this.#session
    this.#signOuts += 1
    this.#session = undefined
    await this.#options.offline?.forget()
    this.#user = undefined
    if (session === undefined) return { ok: true }
    const call: Call = { method: 'POST', name: 'logout', session, repeatable: true }
    const outcome = await this.#transport.send(call, this.#deadline())
    // The session has already ended, which is what the caller wants.
    if (!outcome.ok && outcome.code !== 'sessionUnauthed') return outcome
    return { ok: true, ...(outcome.ok && outcome.message ? { message: outcome.message } : {}) }
  }

  /**
   * Starts the only trial of this machine, or signs in to it while it runs; then `trialUsed`. Without a hardware id the
   * server refuses.
   */
  async trial({ type, email }: Trial = {}): Promise<Result<UserData>> {
    const body = { type, email, ...(await this.#machine()) }
    return this.#kept(() => this.#call({ method: 'POST', name: 'trial', body, repeatable: true }))
  }

  /** Lists the devices of the signed-in user, if the app lets users free devices. */
  async devices(): Promise<Result<DevicesData>> {
    return this.#signedIn<DevicesData>({ method: 'GET', name: 'devices', repeatable: true }, 'devices')
  }

  /**
   * Frees a device of the signed-in user, so that another one can take its place. `device_cooldown` says in
   * `details.until` when the next may be freed. Never retried automatically.
   */
  async freeDevice(deviceId: string): Promise<Result<object>> {
    const name = `devices/${toSegment('deviceId', deviceId)}`
    return this.#signedIn<object>({ method: 'DELETE', name, repeatable: false })
  }

  /**
   * The request of a machine that is never online, a text of about 150 characters for the vendor. Calling it again with the
   * same key returns the same request until a file has answered it. Sends nothing; needs the option `storage`.
   */
  async offlineRequest(licenseKey: string): Promise<string> {
    const key = toKey(licenseKey)
    const { length } = [...key]
    if (length < 1 || length > licenseKeyMax) {
      throw new KeywardUsageError('invalid_argument', `licenseKey must have 1 to ${licenseKeyMax} characters`)
    }
    const { offline, hwid } = await this.#offlineMachine('offlineRequest')
    const nonce = fromHex(await stored(offline.requestNonce(key)))
    return encodeRequest({ appId: this.#options.appId, hwid, licenseKey: key, nonce })
  }

  /**
   * Accepts the vendor's file for the last `offlineRequest`. From then on `session` and `license` answer from it while the
   * server is not reached. Throws `KeywardUsageError` (`activation_rejected`) for any other file. Sends nothing.
   */
  async activateOffline(file: string): Promise<Granted<UserData>> {
    if (typeof file !== 'string') throw new KeywardUsageError('invalid_argument', 'file must be a text')
    const { offline, hwid } = await this.#offlineMachine('activateOffline')
    const answer = await stored(offline.activate(file, hwid))
    if (typeof answer === 'string') throw new KeywardUsageError('activation_rejected', rejections[answer])
    this.#user = answer.user
    return { ...answer, ok: true }
  }

  /**
   * Forgets the activation of this machine and returns the code with which the vendor frees the device. Throws
   * `KeywardUsageError` (`no_activation`) without one. Sends nothing.
   */
  async deactivateOffline(): Promise<string> {
    const { offline, hwid } = await this.#offlineMachine('deactivateOffline')
    const code = await stored(offline.deactivate(hwid))
    if (code === undefined) {
      throw new KeywardUsageError('no_activation', 'This machine has no activation')
    }
    this.#user = undefined
    return code
  }

  /**
   * Checks a license in one call, without signing in. `ok: true` only if it can be used now on this machine. Without
   * `activate` it binds nothing, so an unused key is valid on any number of machines: prefer `license`, or pass
   * `activate: true`, which redeems an unused key and binds this machine.
   */
  async validate(
    licenseKey: string,
    { activate = false }: { activate?: boolean } = {},
  ): Promise<Result<ValidateData>> {
    const { appId, locale } = this.#options
    const key = toKey(licenseKey)
    const body = { appId, licenseKey: key, ...(await this.#machine()), ...(activate && { activate }), locale }
    const call: Call = { method: 'POST', name: 'validate', body, repeatable: true }
    const outcome = await this.#transport.send(call, this.#deadline())
    if (!outcome.ok) return outcome
    const { valid, code } = outcome.data
    if (valid === true) return granted<ValidateData>(outcome, 'license')
    if (valid !== false || typeof code !== 'string') throw unexpected('validate')
    return { ok: false, code, message: outcome.message ?? code, ...refusalFacts(outcome.data) }
  }

  /**
   * Whether the license of the signed-in user includes a feature, by the last answer to a sign-in or `session`. False
   * before, and after a refusal or `logout`.
   */
  has(feature: string): boolean {
    const features = this.#user?.features
    return Array.isArray(features) && features.includes(feature)
  }

  /**
   * A variable of the signed-in user or the app, by the last answers; before the sign-in a public one. Undefined if
   * there is none of that name.
   */
  variable(name: string): string | undefined {
    const own = toTexts(this.#user?.variables)
    if (Object.hasOwn(own, name)) return own[name]
    return Object.hasOwn(this.#public, name) ? this.#public[name] : undefined
  }

  async #open(deadline: number): Promise<Result<InitData>> {
    const { appId, secret, version, hash, locale } = this.#options
    const body = { appId, secret, version, hash, hwid: await this.#findHwid(), locale, sdk }
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
    this.#session = session
    this.#user = undefined
    this.#public = toTexts(opened.variables)
    return opened
  }

  /** Concurrent calls share one `init`. */
  #openOnce(deadline: number): Promise<Result<InitData>> {
    this.#opening ??= this.#open(deadline).finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #call(call: SessionCall, reopen = true): Promise<Result<UserData>> {
    const deadline = this.#deadline()
    for (;;) {
      if (this.#session === undefined) {
        const opened = await this.#openOnce(deadline)
        if (!opened.ok) return opened
      }
      const session = this.#session
      const outcome = await this.#transport.send({ ...call, ...(session ? { session } : {}) }, deadline)
      if (outcome.ok) return this.#remember(call, granted<UserData>(outcome, 'user'))
      // A refusal ends what the license included, until the next success.
      if (call.name === 'session') this.#user = undefined
      if (outcome.code !== 'sessionUnauthed') return outcome
      if (this.#session === session) this.#session = undefined
      if (!reopen) return outcome
      reopen = false
    }
  }

  /** A call of the signed-in user; without one it is `sessionUnauthed`. */
  async #signedIn<Data>(call: SessionCall, required?: keyof Data & string): Promise<Result<Data>> {
    const deadline = this.#deadline()
    if (this.#session === undefined) {
      const opened = await this.#openOnce(deadline)
      if (!opened.ok) return opened
    }
    const session = this.#session
    const outcome = await this.#transport.send({ ...call, ...(session ? { session } : {}) }, deadline)
    return outcome.ok ? granted<Data>(outcome, required) : outcome
  }

  /** Renews the lease after a success, and forgets it after a refusal that would hold offline, too. */
  async #kept(online: () => Promise<Result<UserData>>, licenseKey?: string): Promise<Result<UserData>> {
    const signOuts = this.#signOuts
    const isCurrent = () => signOuts === this.#signOuts
    const result = await online()
    const hasEnded = !result.ok && endsLease.has(result.code)
    if (hasEnded) this.#user = undefined
    const { offline } = this.#options
    const hwid = offline && (await this.#findHwid())
    if (!offline || hwid === undefined) return result
    if (result.ok) {
      const shown = await keptToken(offline, result, isCurrent)
      await this.#renewLease(offline, hwid, { user: shown.user, licenseKey, isCurrent })
      return shown
    }
    if (hasEnded) await offline.forgetLease()
    return result
  }

  /** Concurrent calls share one sign-in, because each replaces the token. */
  #resumeOnce(): Promise<Result<UserData> | undefined> {
    this.#resuming ??= this.#resume().finally(() => {
      this.#resuming = undefined
    })
    return this.#resuming
  }

  /** Signs in with the remembered sign-in; undefined without one, or if the server has ended it. */
  async #resume(): Promise<Result<UserData> | undefined> {
    const signOuts = this.#signOuts
    const { offline } = this.#options
    const deviceToken = await offline?.deviceToken()
    if (!offline || deviceToken === undefined) return undefined
    const machine = await this.#machine()
    if (machine.hwid === undefined) return undefined
    // The server accepts the same token again if its answer was lost.
    const call: SessionCall = {
      method: 'POST',
      name: 'resume',
      body: { deviceToken, ...machine },
      repeatable: true,
    }
    const result = await this.#call(call, false)
    if (result.ok) return keptToken(offline, result, () => signOuts === this.#signOuts)
    if (result.code !== 'sessionUnauthed') return result
    await offline.dropDeviceToken(deviceToken)
    return undefined
  }

  async #signInFacts() {
    const machine = await this.#machine()
    return this.#options.offline && machine.hwid !== undefined ? { ...machine, remember: true } : machine
  }

  async #renewLease(offline: Offline, hwid: string, { user, licenseKey, isCurrent }: Renewal): Promise<void> {
    if (!isCurrent()) return
    if (licenseKey === undefined && !(await offline.isDue(hwid, user._id))) return
    const session = this.#session
    const call: Call = {
      method: 'POST',
      name: 'lease',
      body: { hwid },
      repeatable: true,
      ...(session && { session }),
    }
    try {
      const outcome = await this.#transport.send(call, this.#deadline())
      if (outcome.ok && typeof outcome.data.lease === 'string' && isCurrent()) {
        await offline.keep(outcome.data.lease, hwid, user, licenseKey)
      }
    } catch {
      // The program may run; the next call tries again.
    }
  }

  /** Answers from the activation of this machine; undefined if there is none that helps. */
  async #activated(): Promise<Granted<UserData> | undefined> {
    const { offline } = this.#options
    const hwid = offline && (await this.#findHwid())
    const answer = hwid === undefined ? undefined : await offline?.answerFromActivation(hwid)
    if (typeof answer !== 'object') return undefined
    this.#user = answer.user
    this.#options.log({ event: 'offline', call: 'session', code: 'sessionUnauthed' })
    return { ...answer, ok: true }
  }

  async #offlineMachine(call: string): Promise<{ offline: Offline; hwid: string }> {
    const { offline } = this.#options
    if (!offline) throw new KeywardUsageError('invalid_options', `${call} needs the option storage`)
    const hwid = await this.#findHwid()
    if (hwid === undefined) throw new KeywardUsageError('hwid_unavailable', `${call} needs a hardware id`)
    return { offline, hwid }
  }

  /** Answers from the lease or the activation if the server is not reached. */
  async #orOffline(
    call: 'license' | 'session',
    online: () => Promise<Result<UserData>>,
    licenseKey?: string,
  ): Promise<Result<UserData>> {
    try {
      return await online()
    } catch (error) {
      const { offline } = this.#options
      if (!offline || !(error instanceof KeywardNetworkError) || error.code === 'unexpected_answer')
        throw error
      const hwid = await this.#findHwid()
      if (hwid === undefined) throw error
      const answer = await offline.answer(hwid, licenseKey)
      if (typeof answer === 'object') {
        this.#user = answer.user
        this.#options.log({ event: 'offline', call, code: error.code })
        return { ...answer, ok: true }
      }
      error.offline = answer
      throw error
    }
  }

  /** An upgrade may concern another user than the signed-in one. */
  #remember({ name }: SessionCall, result: Granted<UserData>): Granted<UserData> {
    if (name !== 'upgrade') this.#user = result.user
    return result
  }

  /** The hardware id, and the description of the machine beside it. */
  async #machine(): Promise<{ hwid?: string; device?: DeviceDescription }> {
    const { appId, device } = this.#options
    const hwid = await this.#findHwid()
    if (hwid === undefined) return {}
    if (!device) return { hwid }
    this.#device ??= platform.describeDevice(appId).catch(() => undefined)
    const description = await this.#device
    return description ? { hwid, device: description } : { hwid }
  }

  #findHwid(): Promise<string | undefined> {
    const { hwid, appId } = this.#options
    this.#hwid ??= (async () => {
      if (hwid === null) return undefined
      const found = typeof hwid === 'function' ? await ask(hwid) : (hwid ?? (await platform.findHwid(appId)))
      if (typeof found === 'string' && found.length >= 1 && found.length <= 256) return found
      throw new KeywardUsageError('invalid_options', 'hwid must give a text of 1 to 256 characters')
    })()
    this.#hwid.catch(() => {
      this.#hwid = undefined
    })
    return this.#hwid
  }

  #deadline(): number {
    return performance.now() + this.#options.timeoutMs
  }
}

/** Stores the token of a remembered sign-in, which programs never see, unless the user has signed out meanwhile. */
async function keptToken(
  offline: Offline,
  result: Granted<UserData>,
  isCurrent: () => boolean,
): Promise<Granted<UserData>> {
  const { deviceToken, ...shown } = result as Granted<UserData> & { deviceToken?: unknown }
  if (typeof deviceToken === 'string' && isCurrent()) await offline.keepDeviceToken(deviceToken)
  return shown
}

function granted<Data>(outcome: Delivered, required?: keyof Data & string): Granted<Data> {
  const { data, message } = outcome
  if (required === undefined)
    return { ...(data as Data), ...(message === undefined ? {} : { message }), ok: true }
  if (typeof data[required] !== 'object' || data[required] === null) throw unexpected(required)
  // `ok` last: no field of a response may override the verdict.
  return { ...(data as Data), ...(message === undefined ? {} : { message }), ok: true }
}

/** Servers of earlier versions send no variables. */
const toTexts = (variables: unknown): Record<string, string> =>
  typeof variables === 'object' && variables !== null ? (variables as Record<string, string>) : {}

function unexpected(what: string): KeywardNetworkError {
  return new KeywardNetworkError('unexpected_answer', `The answer to ${what} is incomplete`, {
    outcomeUnknown: true,
  })
}

function texts<T extends object, K extends keyof T & string>(input: T, required: K[]): T & Record<K, string> {
  for (const name of required) {
    if (typeof input?.[name] !== 'string') {
      throw new KeywardUsageError('invalid_argument', `${name} must be a text`)
    }
  }
  return input as T & Record<K, string>
}

async function ask(hwid: () => string | Promise<string>): Promise<string> {
  try {
    return await hwid()
  } catch (cause) {
    throw new KeywardUsageError('hwid_unavailable', 'The function hwid failed', { cause })
  }
}

const rejections: Record<ActivationProblem, string> = {
  not_for_this_machine: 'The file is damaged, or made for another app or another machine',
  other_request: 'The file does not answer the last request of this machine',
  lease_ended: 'The file has ended',
  clock_set_back: 'The clock of this machine is behind: correct it and try again',
}

/** What must be stored reports it if it cannot be. */
const stored = <T>(change: Promise<T>): Promise<T> =>
  change.catch((cause) => {
    if (!(cause instanceof StorageFailure)) throw cause
    throw new KeywardUsageError('storage_failed', `${cause.message}. Nothing was changed.`, { cause })
  })

function toKey(licenseKey: unknown): string {
  if (typeof licenseKey === 'string') return licenseKey.trim()
  throw new KeywardUsageError('invalid_argument', 'licenseKey must be a text')
}

/** One segment of a path. Addresses drop `.` and `..`, so they would name another call. */
function toSegment(name: string, value: unknown): string {
  if (typeof value === 'string' && !['', '.', '..'].includes(value)) {
    try {
      return encodeURIComponent(value)
    } catch {
      // A lone surrogate has no UTF-8.
    }
  }
  throw new KeywardUsageError('invalid_argument', `${name} must be a text that can be part of an address`)
}
