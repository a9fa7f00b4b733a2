import type { DeviceUse, LicenseTerm } from '@keyward/contract'
import type { ProgramActor } from '../../../core/actor.ts'
import type { Parts } from '../../devices/devices.rules.ts'
import type { Catalog } from '../../releases/catalog.rules.ts'
import type { PinnedKey } from '../../signing-keys/signing-keys.access.ts'

/** The facts about an app that a verdict needs; several calls share them. */
export interface AppFacts {
  readonly id: string
  readonly ownerId: string
  /** A program's calls name its app themselves. */
  readonly apps: null
  /** The 8-character public id. */
  readonly appId: string
  readonly name: string
  readonly version: string
  readonly secretHash: string
  readonly secretVersion: number
  readonly isPaused: boolean
  /** Whether the owner paused all applications. */
  readonly isPlatformPaused: boolean
  /** Whether the hardware lock is on for both the platform and the app. */
  readonly hwidLock: boolean
  /** Whether programs must send a hardware id. */
  readonly requireHwid: boolean
  /** Whether `validate` accepts only machines that are bound. */
  readonly requireActivation: boolean
  readonly deviceTolerance: boolean
  readonly deviceSelfService: boolean
  readonly deviceCooldownHours: number
  /** The owner's custom texts, as JSON. */
  readonly messages: string
  readonly usernameMin: number
  readonly blockVpn: boolean
  readonly checkHash: boolean
  readonly checkPasswords: boolean
  /** Whether licenses of test orders work. */
  readonly testLicenses: boolean
  /** The shop, for people without a license. */
  readonly buyUrl: string | null
  /** Whether a license type of the app has links. */
  readonly hasTypeLinks: boolean
  /** Incremented with every change of the block list; 0 if nothing was ever blocked. */
  readonly blockVersion: number
  /** Changes with the app's variables; null without any. */
  readonly variablesRevision: string | null
  /** The oldest version that may run; null for all. */
  readonly minimumVersion: string | null
  /** Whether everybody can read the feeds of updates. */
  readonly publicUpdates: boolean
  /** Incremented with every change of the releases; 0 if nothing was ever released. */
  readonly releasesVersion: number
  /** Kept in memory by that number. */
  releases: Catalog
  /** The key for programs that name none; `version` is 0 while it is the only one. */
  readonly signing: PinnedKey & { version: number }
}

export interface EndUserFacts {
  id: string
  username: string
  email: string | null
  isBanned: boolean
  banReason: string | null
  isPaused: boolean
  /** When access ends, grace days included; milliseconds since 1970. */
  expiresAt: number
  graceDays: number
  term: LicenseTerm
  createdAt: number
  lastLoginAt: number | null
  /** How many devices are bound, of how many; -1 is unlimited. */
  devices: DeviceUse
  /** When the clock of the first license started. */
  startedAt: number | null
  /** Null unless its keys give it seats. */
  floating: Floating | null
  /** The features that all its keys give, as JSON. */
  features: string
  /** When those of them end that last shorter than access; milliseconds since 1970. */
  featureEnds: ReadonlyMap<string, number>
  /** The end of the updates that the first license covers; null for all. */
  updatesUntil: number | null
  /** Changes with the end user's own variables; null without any. */
  variablesRevision: string | null
}

/** The seats of a floating license; `licenseId` is the end user's first one. */
export interface Floating {
  licenseId: string
  seats: number
  timeoutMs: number
}

/** A session with its end user, if one is signed in. */
export interface SessionFacts {
  id: string
  expiresAt: number
  /** The secret's version when the session was opened. */
  secretVersion: number
  /** Hash of a sealed token whose session has no row yet, because no end user has signed in; else null. */
  tokenHash: string | null
  /** Hash of the hardware id that the program sent at sign-in. */
  hwidHash: string | null
  /** The canonical tag of the language that the program named. */
  locale: string | null
  /** The program's version; null for a session of an earlier version of the server. */
  version: string | null
  app: AppFacts
  endUser: EndUserFacts | null
  /** The device that the session is on, if it is bound. */
  device: SessionDevice | null
  /** When the session's seat ends. */
  seatUntil: number | null
  /** The end user's first license. */
  firstKey: KeyFacts | null
}

interface SessionDevice {
  id: string
  lastSeenAt: number
  /** The version of the program that ran on it last. */
  version: string | null
  /** The release whose advisory it got last. */
  toldRelease: string | null
  readParts: () => Parts
}

/** A license key as a verdict judges it. */
export interface KeyFacts {
  id: string
  isBanned: boolean
  banReason: string | null
  /** Whether it is of a test order. */
  isTest: boolean
  /** When access ends, grace days included; milliseconds since 1970. */
  expiresAt: number
  graceDays: number
  startedAt: number | null
}

/** A license key of an app with its end user. */
export interface LicenseFacts {
  app: AppFacts
  key: (KeyFacts & { text: string; isUsed: boolean; term: LicenseTerm }) | null
  endUser: {
    id: string
    username: string
    isBanned: boolean
    banReason: string | null
    isPaused: boolean
  } | null
  /** The end user's device with the hardware id that was sent. */
  device: { parts: Parts } | null
  devices: DeviceUse
  /** Unknown keys that this address has tried. */
  misses: { count: number; window_ends: number } | null
}

/** The calling program, identified by its app and its session, if it has one. */
export const toActor = (
  { app, id }: Pick<SessionFacts, 'app'> & { id: string | null },
  address: string,
): ProgramActor => ({
  kind: 'program',
  ownerId: app.ownerId,
  apps: null,
  appId: app.id,
  sessionId: id,
  address,
})
