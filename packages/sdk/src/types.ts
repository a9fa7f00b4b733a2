import type { LicenseState } from './codes.ts'

export type { LicenseState }

/** Facts behind a refusal. Newer servers may send more. */
export interface RefusalDetails {
  /** When the license ends or ended, ISO 8601 UTC; null for never. */
  expiresAt?: string | null
  /** When a license that counts from its first use was first used. */
  startedAt?: string | null
  /** Where to buy, renew and upgrade, with refusals that a purchase mends. */
  links?: Links
  /** With `updatesEnded` and `versionTooOld`: the newest version that the license may use; null if there is none. */
  release?: { version: string; url: string | null } | null
  /** A vulnerability of this program's version. */
  advisory?: Advisory
  [name: string]: unknown
}

/**
 * A signed refusal: the server's verdict with the app owner's text for it. Only a call that a `logout` has overtaken ends
 * with `sessionUnauthed` and a text of the SDK.
 */
export interface Refused {
  ok: false
  /** A `LicenseState`, or a general code such as `invalid_input`. */
  code: LicenseState | (string & {})
  /** The text to show to the end user. */
  message: string
  /** Names this refusal: show it to the end user, and the app's owner finds the reason in the console. */
  reference?: string
  /** Facts for the end user; only after the password or the license key was right. */
  details?: RefusalDetails
  /** Invalid inputs, if `code` is `invalid_input`. */
  errors?: { path: string; message: string }[]
}

/** A signed success with its data. */
export type Granted<Data> = { ok: true; message?: string } & Data

/** The result of every call: check `ok` first and deny access unless it is true. */
export type Result<Data> = Granted<Data> | Refused

/** Pages of the vendor's shop, which know the license: a program opens them for its user. */
export interface Links {
  /** Where to buy a license; null if the vendor has set none, like the others. */
  buy: string | null
  renew: string | null
  upgrades: { name: string; url: string }[]
}

/** A vulnerability of this program's version. */
export interface Advisory {
  /** The version that repairs it; null if none is left. */
  version: string | null
  severity: 'low' | 'medium' | 'high' | 'critical' | (string & {})
  summary: string
  /** A page about it. */
  url: string | null
}

/** The signed-in end user. Times are ISO 8601 UTC. */
export interface SessionUser {
  _id: string
  /** The license key itself for users who signed in by key alone. */
  username: string
  email: string | null
  /** When the license ends; null if it never expires. */
  expiresAt: string | null
  /** True after `expiresAt`, while the vendor's grace days still allow access. */
  inGrace: boolean
  /** `date`: until a date; `forever`: never expires; `first_use`: for a duration since the first use. */
  term: 'date' | 'forever' | 'first_use'
  createdAt: string
  lastLoginAt: string | null
  /** Whether the user is bound to a machine. */
  hwidBound: boolean
  /** Names of the features that the license includes; see `has`. */
  features: string[]
  /** The app's variables for signed-in users, and the user's own, by name; see `variable`. */
  variables: Record<string, string>
  /** The license covers versions released until then; null if it covers all. */
  updatesUntil: string | null
  /** True if the license covers a newer version than this program's; absent offline. */
  updateAvailable?: boolean
  /** How many devices the user has, of how many; -1 for unlimited. */
  devices: DeviceUse
  /** The seat of a floating license: call `session()` before it ends. Null for other licenses. */
  seat: { until: string } | null
  /** Where to buy, renew and upgrade: after a sign-in, `trial` and `upgrade`, not after `session`. */
  links?: Links
}

export interface DeviceUse {
  used: number
  limit: number
}

export interface InitData {
  /** When the session expires unless it is used, ISO 8601 UTC. */
  expiresAt: string
  /** The app's name and its current version on the server. */
  app: { name: string; version: string }
  /** True when the server's version is newer than the `version` given to the constructor. */
  updateAvailable: boolean
  /** The app's public variables by name; see `variable`. */
  variables: Record<string, string>
  /** A vulnerability of this program's version, or null; absent with older servers. */
  advisory?: Advisory | null
}

export interface UserData {
  user: SessionUser
  /** A vulnerability of this program's version, or null: after `session` alone. */
  advisory?: Advisory | null
  /** Set if a lease or an activation of this machine stands in for the server. */
  offline?: OfflineState
}

/** How long a program may go on without the server. Times are ISO 8601 UTC. */
export interface OfflineState {
  /** When the lease or the activation ends; null if the activation never ends. */
  until: string | null
  /** When the program must stop; null for never. */
  graceUntil: string | null
  /** True between the two: tell the user to go online. */
  inGrace: boolean
}

/** A place that outlives the program, such as a file. Its content may be read and changed by the user. */
export interface KeywardStorage {
  /** Resolves to what was last written; null or empty if there is nothing. */
  read(): Promise<string | null>
  write(text: string): Promise<void>
  /** Runs a change while no other program changes the content. Without it changes of two programs may overwrite each other. */
  lock?<T>(change: () => Promise<T>): Promise<T>
}

export interface ValidatedLicense {
  key: string
  used: boolean
  username: string | null
  /** ISO 8601 UTC; null if it never expires, or if its duration starts with the first use. */
  expiresAt: string | null
  /** True after `expiresAt`, while the vendor's grace days still allow access. */
  inGrace: boolean
  /** `date`: until a date; `forever`: never expires; `first_use`: for a duration that starts with the first use. */
  term: 'date' | 'forever' | 'first_use'
}

export interface ValidateData {
  license: ValidatedLicense
  /** Whether this machine is a device of the license. False for an unused key: it is valid on any number of machines. */
  activated: boolean
}

/** A machine on which the user has signed in. Times are ISO 8601 UTC. */
export interface Device {
  _id: string
  name: string | null
  system: string | null
  firstSeenAt: string
  lastSeenAt: string
}

export interface DevicesData {
  /** The device seen last comes first; at most 200. */
  devices: Device[]
}

/** What `checkForUpdate` asks for. */
export interface UpdateQuery {
  /** By default `stable`. */
  channel?: string
  /** The platform and architecture of the artifact; by default those of this machine. */
  platform?: string
  architecture?: string
  /** Needed while nobody is signed in; it is not used by it. */
  licenseKey?: string
}

export interface UpdateData {
  /** The newest version that the license covers and that this one may update to; null if there is none. */
  update: Update | null
  /** A newer version that the license does not cover, and where to renew; null if there is none. */
  beyond: { version: string; links: Links } | null
}

export interface Update {
  version: string
  /** ISO 8601 UTC. */
  releasedAt: string
  /** Markdown. */
  notes: string | null
  /** Where people download it. */
  url: string | null
  /** The file for this machine; null for a release without files. */
  artifact: Artifact | null
  /** Set for a release that repairs a vulnerability. */
  security: {
    severity: Advisory['severity']
    affects: { from: string | null; before: string | null }[]
    summary: string
    advisory: string | null
  } | null
}

/** A file of a release. Digests are in lower-case hex. */
export interface Artifact {
  platform: string
  architecture: string
  /** Such as `installer`, `archive`, `full` or `delta`. */
  kind: string
  name: string
  url: string
  /** Bytes. */
  size: number
  sha512: string
  sha256?: string
  sha1?: string
  /** The vendor's own. */
  signature?: string
}

export interface Trial {
  /** A trial type of the app; by default its oldest. */
  type?: string
  email?: string
}

/** What the SDK sends about the machine beside the hardware id. */
export interface DeviceDescription {
  name?: string
  system?: string
  /** Salted hashes, 64 hex digits each. */
  parts?: { machine?: string; board?: string; disk?: string; network?: string }
}

export interface Credentials {
  username: string
  password: string
}

export interface Registration extends Credentials {
  licenseKey: string
  email?: string
}

export interface Upgrade {
  username: string
  licenseKey: string
}

/** A public key of an app: an Ed25519 JSON Web Key. Other members are ignored. */
export interface PublicJwk {
  kty: string
  crv?: string
  x?: string
  kid?: string
  alg?: string
  use?: string
  /** `next`, `current` or `retired`; a `revoked` key is ignored. */
  status?: string
}

/** An event for the option `log`. */
export interface LogEvent {
  /**
   * Each attempt is a `request`, and then one of: `response`, a genuine answer; `retry`, an error after which the call is
   * repeated; `failed`, an error that the program gets. `offline`: a lease answered in place of the server.
   */
  event: 'request' | 'response' | 'retry' | 'failed' | 'offline'
  /** The call of the protocol, such as `license` or `init`. */
  call: string
  /** From 1; not with `offline`. */
  attempt?: number
  /** The HTTP status, if there was an answer. */
  status?: number
  /** The code of the refusal or of the error. */
  code?: string
  /** Names the refusal, for the console. */
  reference?: string
  /** How long the attempt took, in milliseconds. */
  durationMs?: number
  /** The pause before the next attempt, in milliseconds. */
  delayMs?: number
}

/** The part of a `fetch` response that the SDK uses. */
export interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
      cancel(reason?: unknown): Promise<void>
    }
  } | null
}

/** The part of `fetch` that the SDK uses; compatible with the global one. */
export type Fetch = (
  url: string,
  init: {
    method: string
    headers: Record<string, string>
    body?: string
    redirect: 'manual'
    /** An `AbortSignal`, whose type not every project has. */
    // biome-ignore lint/suspicious/noExplicitAny: see above
    signal: any
  },
) => Promise<FetchResponse>

/** How a program reaches and verifies its Keyward server. */
export interface KeywardOptions {
  /** The server's public address without `/api`, for example `https://licenses.example.com`. */
  baseUrl: string
  /** The app's 8-character identifier. */
  appId: string
  /** The app's 32-character secret. */
  secret: string
  /**
   * The app's public keys: the `keys` array of `GET /api/client/apps/{appId}/keys`, the whole set, or one key. Embed
   * them in the program: keys fetched at run time prove nothing.
   */
  publicKeys: readonly PublicJwk[] | { readonly keys: readonly PublicJwk[] } | PublicJwk
  /** The program's version, compared with the app's version on the server; 1 to 32 characters. */
  version: string
  /** The hash of the program's build, for apps that check it: its SHA-256, as `sha256sum <file>` prints it; up to 256 characters. */
  hash?: string
  /**
   * The language of `message`, as a BCP 47 tag such as `de-AT`; up to 35 characters. The owner's texts in that language
   * apply, else those in a more general one, else the app's default texts, which apply without it too.
   */
  locale?: string
  /**
   * The hardware id, 1 to 256 characters, or a function that returns it. Default: a salted hash of the machine's own
   * id. `null` sends none, and users with a hardware lock are refused.
   */
  hwid?: string | null | (() => string | Promise<string>)
  /**
   * Whether to send the machine's name, its system and salted hashes of its parts with the hardware id, by which the
   * server recognizes a machine that changed. True by default, but false with a `hwid` of your own: two of your ids on
   * one machine would be taken for the same device.
   */
  device?: boolean
  /**
   * Lets the program run without the server, and stay signed in: keeps a lease that `session` and `license` fall back to
   * after a `KeywardNetworkError`, and a token with which `session` signs in again. `user-data` is a file in the user's data folder (`localStorage` in a browser). Needs a
   * hardware id. Default: none.
   */
  storage?: 'user-data' | KeywardStorage
  /** Replaces the global `fetch`, for tests and for other transports. */
  fetch?: Fetch
  /**
   * An HTTP proxy, `http://[user:password@]host:port`. `https` addresses go through a tunnel, and their certificates are
   * always verified. Without it the platform's own settings apply. Not in browsers.
   */
  proxy?: string
  /**
   * Called with an event for every attempt of a call. Events never contain a secret, a key, a token, a hardware id or a
   * body. What the function throws is ignored.
   */
  log?: (event: LogEvent) => void
  /** Timeout of one call in milliseconds, including retries; 100 to 600000, default 15000. */
  timeoutMs?: number
}
