import { platform } from '#platform'
import { encodeRequest, licenseKeyMax } from './activation.ts'
import { texts, toArtifact, toKey, toSegment } from './arguments.ts'
import { fromHex } from './bytes.ts'
import { KeywardUsageError } from './errors.ts'
import { granted, unexpected } from './granted.ts'
import { Identity } from './identity.ts'
import { toTexts } from './lease.ts'
import { type ActivationProblem, type Offline, StorageFailure } from './offline.ts'
import { type CheckedOptions, checkOptions } from './options.ts'
import { Session } from './session.ts'
import type { SessionCall } from './session-calls.ts'
import { type Call, refusalFacts, Transport } from './transport.ts'
import type {
  Credentials,
  DevicesData,
  Granted,
  InitData,
  KeywardOptions,
  Registration,
  Result,
  Trial,
  Update,
  UpdateData,
  UpdateQuery,
  Upgrade,
  UserData,
  ValidateData,
} from './types.ts'

/**
 * A program's client for its Keyward server. Every call resolves to a `Result`: `ok: true` with data, or `ok: false`
 * with `code` and `message` if the server refuses. Throws `KeywardNetworkError` without a usable response,
 * `KeywardSignatureError` for a response that is not genuine, `KeywardUsageError` for an invalid call.
 */
export class Keyward {
  readonly #options: CheckedOptions
  readonly #transport: Transport
  readonly #identity: Identity
  readonly #session: Session

  /** Throws `KeywardUsageError` (`invalid_options`) if an option is missing or invalid. Sends nothing. */
  constructor(options: KeywardOptions) {
    this.#options = checkOptions(options)
    this.#transport = new Transport(this.#options)
    this.#identity = new Identity(this.#options)
    this.#session = new Session(this.#options, this.#transport, this.#identity)
  }

  /**
   * Opens a session and reports whether the app is enabled and has a newer version. Other calls do this when needed.
   * Calling it again starts a new session, signed out.
   */
  async init(): Promise<Result<InitData>> {
    return this.#session.open()
  }

  /**
   * Creates an end user from an unused license key and signs in. Never retried automatically: after a
   * `KeywardNetworkError` with `outcomeUnknown`, try `login` to find out whether it succeeded.
   */
  async register(registration: Registration): Promise<Result<UserData>> {
    const isCurrent = this.#session.untilSignOut()
    const { username, password, licenseKey, email } = texts(registration, [
      'username',
      'password',
      'licenseKey',
    ])
    const facts = await this.#identity.signInFacts()
    const body = { username, password, licenseKey: licenseKey.trim(), email, ...facts }
    return this.#session.signIn({ method: 'POST', name: 'register', body, repeatable: false }, isCurrent)
  }

  /** Signs an end user in by username and password; the first sign-in binds the user to this machine. */
  async login(credentials: Credentials): Promise<Result<UserData>> {
    const isCurrent = this.#session.untilSignOut()
    const { username, password } = texts(credentials, ['username', 'password'])
    const body = { username, password, ...(await this.#identity.signInFacts()) }
    return this.#session.signIn({ method: 'POST', name: 'login', body, repeatable: true }, isCurrent)
  }

  /** Signs in by license key alone; the first use redeems the key and binds it to this machine. */
  async license(licenseKey: string): Promise<Result<UserData>> {
    const isCurrent = this.#session.untilSignOut()
    const key = toKey(licenseKey)
    const body = { licenseKey: key, ...(await this.#identity.signInFacts()) }
    const call: SessionCall = { method: 'POST', name: 'license', body, repeatable: true }
    const online = (timeoutMs?: number) =>
      this.#session.signIn(call, isCurrent, { licenseKey: key, timeoutMs })
    return this.#session.orOffline('license', online, isCurrent, key)
  }

  /**
   * Redeems a key for an end user and adds the key's remaining time. Never retried automatically: after a
   * `KeywardNetworkError` with `outcomeUnknown`, compare the user's `expiresAt`.
   */
  async upgrade(upgrade: Upgrade): Promise<Result<UserData>> {
    const { username, licenseKey } = texts(upgrade, ['username', 'licenseKey'])
    const body = { username, licenseKey: licenseKey.trim() }
    return this.#session.upgrade({ method: 'POST', name: 'upgrade', body, repeatable: false })
  }

  /**
   * Returns the signed-in user and its expiry; call it before every unit of work. A ban, pause or expiry is reported
   * from the next call on. `sessionUnauthed` means that no user is signed in. After `license` it signs in again by itself
   * once the session has ended, and with the option `storage` also after a restart, if the vendor lets the app remember
   * sign-ins.
   */
  async session(): Promise<Result<UserData>> {
    const isCurrent = this.#session.untilSignOut()
    const online = (timeoutMs?: number) => this.#session.check(isCurrent, timeoutMs)
    return this.#session.orOffline('session', online, isCurrent)
  }

  /**
   * Ends the session. Always succeeds locally, even if the server is not reached or there is no session. A sign-in or
   * `session` that is still under way ends with `sessionUnauthed`, also if the server grants it.
   */
  async logout(): Promise<Result<object>> {
    const session = await this.#session.signOut()
    if (session === undefined) return { ok: true }
    const call: Call = { method: 'POST', name: 'logout', session, repeatable: true }
    const outcome = await this.#transport.send(call, this.#session.deadline())
    // The session has already ended, which is what the caller wants.
    if (!outcome.ok && outcome.code !== 'sessionUnauthed') return outcome
    return { ok: true, ...(outcome.ok && outcome.message ? { message: outcome.message } : {}) }
  }

  /**
   * Starts the only trial of this machine, or signs in to it while it runs; then `trialUsed`. Without a hardware id the
   * server refuses.
   */
  async trial({ type, email }: Trial = {}): Promise<Result<UserData>> {
    const isCurrent = this.#session.untilSignOut()
    const body = { type, email, ...(await this.#identity.facts()) }
    return this.#session.signIn({ method: 'POST', name: 'trial', body, repeatable: true }, isCurrent)
  }

  /** Lists the devices of the signed-in user, if the app lets users free devices. */
  async devices(): Promise<Result<DevicesData>> {
    return this.#session.signedIn<DevicesData>(
      { method: 'GET', name: 'devices', repeatable: true },
      'devices',
    )
  }

  /**
   * Frees a device of the signed-in user, so that another one can take its place. `device_cooldown` says in
   * `details.until` when the next may be freed. Never retried automatically.
   */
  async freeDevice(deviceId: string): Promise<Result<object>> {
    const name = `devices/${toSegment('deviceId', deviceId)}`
    return this.#session.signedIn<object>({ method: 'DELETE', name, repeatable: false })
  }

  /**
   * Finds the newest version that the license covers and that this one may update to. A program that nobody is signed in to
   * passes `licenseKey`; that also finds it after `noActiveSubs`, `updatesEnded`, `versionTooOld` and `noSeats`.
   */
  async checkForUpdate(query: UpdateQuery = {}): Promise<Result<UpdateData>> {
    const { channel, licenseKey, ...target } = { ...platform.target, ...query }
    const body = {
      ...texts(target, ['platform', 'architecture']),
      channel,
      licenseKey: licenseKey === undefined ? undefined : toKey(licenseKey),
    }
    const call: SessionCall = { method: 'POST', name: 'updates', body, repeatable: true }
    const result = await this.#session.signedIn<UpdateData>(call)
    if (result.ok && (typeof result.update !== 'object' || typeof result.beyond !== 'object')) {
      throw unexpected('updates')
    }
    return result
  }

  /**
   * Downloads the file of an update into a folder and returns its path. The file appears there only if its size and SHA-512
   * are those that the server has signed, else `KeywardSignatureError` (`digest_mismatch`). After a `KeywardNetworkError`
   * the next call goes on where this one stopped. Follows redirects, over `https` alone. Not in browsers.
   */
  async downloadUpdate(
    update: Update,
    folder: string,
    { onProgress }: { onProgress?: (received: number, size: number) => void } = {},
  ): Promise<string> {
    const { fetch, timeoutMs } = this.#options
    if (!platform.download) throw new KeywardUsageError('invalid_argument', 'A browser has no folders')
    const artifact = toArtifact(update)
    if (typeof folder !== 'string' || folder === '') {
      throw new KeywardUsageError('invalid_argument', 'folder must be a text')
    }
    return platform.download({ artifact, folder, fetch, timeoutMs, onProgress })
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
    const isCurrent = this.#session.untilSignOut()
    if (typeof file !== 'string') throw new KeywardUsageError('invalid_argument', 'file must be a text')
    const { offline, hwid } = await this.#offlineMachine('activateOffline')
    const answer = await stored(offline.activate(file, hwid))
    if (typeof answer === 'string') throw new KeywardUsageError('activation_rejected', rejections[answer])
    this.#session.activate(answer.user, isCurrent)
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
    this.#session.forgetUser()
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
    const body = {
      appId,
      licenseKey: key,
      ...(await this.#identity.facts()),
      ...(activate && { activate }),
      locale,
    }
    const call: Call = { method: 'POST', name: 'validate', body, repeatable: true }
    const outcome = await this.#transport.send(call, this.#session.deadline())
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
    const features = this.#session.user?.features
    return Array.isArray(features) && features.includes(feature)
  }

  /**
   * A variable of the signed-in user or the app, by the last answers; before the sign-in a public one. Undefined if
   * there is none of that name.
   */
  variable(name: string): string | undefined {
    const own = toTexts(this.#session.user?.variables)
    if (Object.hasOwn(own, name)) return own[name]
    const shown = this.#session.publicVariables
    return Object.hasOwn(shown, name) ? shown[name] : undefined
  }

  async #offlineMachine(call: string): Promise<{ offline: Offline; hwid: string }> {
    const { offline } = this.#options
    if (!offline) throw new KeywardUsageError('invalid_options', `${call} needs the option storage`)
    const hwid = await this.#identity.hwid()
    if (hwid === undefined) throw new KeywardUsageError('hwid_unavailable', `${call} needs a hardware id`)
    return { offline, hwid }
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
