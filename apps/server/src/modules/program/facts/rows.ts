import type { DeviceUse, LicenseTerm, ProgramCall } from '@keyward/contract'
import { second } from '../../../core/clock.ts'
import { accessEnd, displayedEnd, never } from '../../../db/stored-end.ts'
import type { ClientRow, LicenseRow } from '../../../db/tables.ts'
import { type PartColumns, partsOf } from '../../devices/devices.access.ts'
import { deviceLimit } from '../../devices/devices.rules.ts'
import {
  atFirstUse,
  featureEnds,
  type Rights,
  rightsOf,
  termOf,
  updatesUntil,
} from '../../entitlements/terms.rules.ts'
import type { FirstLicense } from '../../licenses/licenses.access.ts'
import { noReleases } from '../../releases/catalog.rules.ts'
import { type DeviceFacts, factsOf, type Known, type VerdictFacts } from '../verdict/verdict.ts'
import type { AppFacts, EndUserFacts, KeyFacts, LicenseFacts, SessionFacts } from './facts.ts'

type Flag = 0 | 1

export interface AppColumns {
  app_row: string
  owner_id: string
  app_public_id: string
  app_name: string
  app_version: string
  secret_hash: string
  secret_version: number
  app_paused: Flag
  app_hwid_lock: Flag
  require_hwid: Flag
  require_activation: Flag
  device_tolerance: Flag
  device_self_service: Flag
  device_cooldown_hours: number
  messages: string
  username_min: number
  block_vpn: Flag
  check_hash: Flag
  check_passwords: Flag
  test_licenses: Flag
  buy_url: string | null
  type_links: Flag
  block_version: number
  app_variables_revision: string | null
  minimum_version: string | null
  public_updates: Flag
  releases_version: number
  signing_kid: string
  signing_public: string
  signing_sealed: string
  signing_version: number
  platform_paused: Flag
  platform_hwid_lock: Flag
}

/** Columns of an outer join are null if there is no row; check its id. */
export interface SessionColumns extends AppColumns, Omit<ClientColumns, 'id'>, PartColumns {
  /** The end user. */
  id: string | null
  session_id: string
  session_expires_at: number
  session_secret_version: number
  session_hwid_hash: string | null
  session_locale: string | null
  session_version: string | null
  device_id: string | null
  device_seen_at: number
  device_version: string | null
  told_release: string | null
  key_id: string | null
  key_banned: Flag
  key_ban_reason: string | null
  key_test: Flag
  key_term: LicenseTerm
  key_devices: number
  key_seats: number | null
  key_seat_timeout: number
  key_features: string
  key_updates_for_days: number | null
  key_updates_until: number | null
  key_started_at: number | null
  key_created_at: number
  seat_until: number | null
}

export interface LicenseColumns extends AppColumns, Omit<KeyColumns, 'id'>, PartColumns {
  /** The license. */
  id: string | null
  expires_at: number
  grace_days: number
  key: string
  used: Flag
  term: LicenseTerm
  client_id: string | null
  username: string
  client_banned: Flag
  client_ban_reason: string | null
  paused_at: number | null
  left_ms: number | null
  added_rights: string | null
  device_count: number | null
  /** Null without a first license. */
  devices: number | null
  seats: number | null
  device_id: string | null
  misses: number | null
  misses_end: number
}

export const toAppFacts = (row: AppColumns): AppFacts => ({
  id: row.app_row,
  ownerId: row.owner_id,
  apps: null,
  appId: row.app_public_id,
  name: row.app_name,
  version: row.app_version,
  secretHash: row.secret_hash,
  secretVersion: row.secret_version,
  isPaused: row.app_paused === 1,
  isPlatformPaused: row.platform_paused === 1,
  hwidLock: row.platform_hwid_lock === 1 && row.app_hwid_lock === 1,
  requireHwid: row.require_hwid === 1,
  requireActivation: row.require_activation === 1,
  deviceTolerance: row.device_tolerance === 1,
  deviceSelfService: row.device_self_service === 1,
  deviceCooldownHours: row.device_cooldown_hours,
  messages: row.messages,
  usernameMin: row.username_min,
  blockVpn: row.block_vpn === 1,
  checkHash: row.check_hash === 1,
  checkPasswords: row.check_passwords === 1,
  testLicenses: row.test_licenses === 1,
  buyUrl: row.buy_url,
  hasTypeLinks: row.type_links === 1,
  blockVersion: row.block_version,
  variablesRevision: row.app_variables_revision,
  minimumVersion: row.minimum_version,
  publicUpdates: row.public_updates === 1,
  releasesVersion: row.releases_version,
  releases: noReleases,
  signing: {
    kid: row.signing_kid,
    publicKey: row.signing_public,
    sealed: row.signing_sealed,
    version: row.signing_version,
  },
})

export function toSessionFacts(row: SessionColumns, app: AppFacts, now: number): SessionFacts {
  const first = row.key_id === null ? undefined : toFirstLicense(row, row.key_id)
  const endUser = row.id === null ? null : toEndUserFacts(row as ClientColumns, first, now)
  return {
    id: row.session_id,
    expiresAt: row.session_expires_at,
    secretVersion: row.session_secret_version,
    tokenHash: null,
    hwidHash: row.session_hwid_hash,
    locale: row.session_locale,
    version: row.session_version,
    app,
    endUser,
    seatUntil: row.seat_until,
    device:
      row.device_id === null
        ? null
        : {
            id: row.device_id,
            lastSeenAt: row.device_seen_at,
            version: row.device_version,
            toldRelease: row.told_release,
            readParts: () => partsOf(row),
          },
    firstKey: endUser && first ? toKeyFacts(first, endUser) : null,
  }
}

const toFirstLicense = (row: SessionColumns, id: string): First => ({
  id,
  banned: row.key_banned,
  ban_reason: row.key_ban_reason,
  test: row.key_test,
  term: row.key_term,
  started_at: row.key_started_at,
  created_at: row.key_created_at,
  devices: row.key_devices,
  seats: row.key_seats,
  seat_timeout_seconds: row.key_seat_timeout,
  features: row.key_features,
  updates_for_days: row.key_updates_for_days,
  updates_until: row.key_updates_until,
})

export const toLicenseFacts = (row: LicenseColumns, app: AppFacts, now: number): LicenseFacts => ({
  app,
  key:
    row.id === null
      ? null
      : {
          ...toKeyFacts(row as KeyColumns, { expiresAt: accessEnd(row, now), graceDays: row.grace_days }),
          text: row.key,
          isUsed: row.used === 1,
          term: row.term,
        },
  endUser:
    row.client_id === null
      ? null
      : {
          id: row.client_id,
          username: row.username,
          isBanned: row.client_banned === 1,
          banReason: row.client_ban_reason,
          isPaused: row.paused_at !== null,
        },
  device: row.device_id === null ? null : { parts: partsOf(row) },
  devices: { used: row.device_count ?? 0, limit: deviceLimit(rightsOf(toSizes(row), row, now)) },
  misses: row.misses === null ? null : { count: row.misses, window_ends: row.misses_end },
})

/** The devices and seats of a first license, without the rest of its rights. */
const toSizes = ({ devices, seats }: LicenseColumns): Rights | null =>
  devices === null ? null : { devices, seats, seat_timeout_seconds: 0, features: '[]' }

type First = Omit<FirstLicense, 'trial'>

type ClientColumns = Pick<
  ClientRow,
  | 'id'
  | 'username'
  | 'email'
  | 'banned'
  | 'ban_reason'
  | 'paused_at'
  | 'expires_at'
  | 'grace_days'
  | 'created_at'
  | 'last_login_at'
  | 'device_count'
> &
  Partial<Pick<ClientRow, 'left_ms' | 'added_rights' | 'variables_revision'>>

export function toEndUserFacts(client: ClientColumns, first: First | undefined, now: number): EndUserFacts {
  const added = { paused_at: client.paused_at, added_rights: client.added_rights ?? null }
  const rights = rightsOf(first, added, now)
  return {
    id: client.id,
    username: client.username,
    email: client.email,
    isBanned: client.banned === 1,
    banReason: client.ban_reason,
    isPaused: client.paused_at !== null,
    expiresAt: accessEnd(client, now),
    graceDays: client.grace_days,
    term: termOf(first, client.expires_at),
    createdAt: client.created_at,
    lastLoginAt: client.last_login_at,
    devices: { used: client.device_count, limit: deviceLimit(rights) },
    startedAt: first?.started_at ?? null,
    // Seats are counted on the first license.
    floating:
      rights?.seats == null || !first
        ? null
        : { licenseId: first.id, seats: rights.seats, timeoutMs: rights.seat_timeout_seconds * second },
    features: rights?.features ?? '[]',
    featureEnds: featureEnds(first, added, now),
    updatesUntil: updatesUntil(first),
    variablesRevision: client.variables_revision ?? null,
  }
}

type KeyColumns = Pick<LicenseRow, 'id' | 'banned' | 'ban_reason' | 'test' | 'started_at'>

/** A key. The first license of an end user shares its end. */
const toKeyFacts = (
  license: KeyColumns,
  { expiresAt, graceDays }: Pick<KeyFacts, 'expiresAt' | 'graceDays'>,
): KeyFacts => ({
  id: license.id,
  isBanned: license.banned === 1,
  banReason: license.ban_reason,
  isTest: license.test === 1,
  expiresAt,
  graceDays,
  startedAt: license.started_at,
})

interface Stored extends Omit<Known, 'endUser' | 'key' | 'updates' | 'device'> {
  client?: ClientColumns | undefined
  first?: First | undefined
  /** The key that the call names; by default the first license. */
  key?: LicenseRow | undefined
  /** The program's version; null if the call names none. */
  version?: string | null
  /** By default with the devices of the end user, or those that the key allows. */
  device?: Omit<DeviceFacts, keyof DeviceUse> & Partial<DeviceUse>
}

/** The facts of the stored rows of an end user, its first license, and the key that a call names. */
export function factsOfRows(
  call: ProgramCall,
  stored: Stored & { client: ClientColumns },
): { endUser: EndUserFacts; facts: VerdictFacts }
export function factsOfRows(call: ProgramCall, stored: Stored): { facts: VerdictFacts }
export function factsOfRows(
  call: ProgramCall,
  { client, first, key, version = null, device, ...known }: Stored,
) {
  const { now } = known
  const endUser = client ? toEndUserFacts(client, first, now) : null
  const isOther = key !== undefined && key.id !== first?.id
  const use = endUser?.devices ?? { used: 0, limit: deviceLimit(key) }
  const facts = factsOf(call, {
    ...known,
    endUser,
    key: isOther
      ? toKeyFacts(key, accessEndOf(key, call))
      : endUser && first
        ? toKeyFacts(first, endUser)
        : null,
    updates: {
      version,
      until: endUser ? endUser.updatesUntil : updatesUntil(key && { ...key, ...atFirstUse(key, now) }),
    },
    ...(device && { device: { ...use, ...device } }),
  })
  return { endUser, facts }
}

/** The grace days of a key that `upgrade` adds are no time that can be added. */
const accessEndOf = (key: LicenseRow, call: ProgramCall): Pick<KeyFacts, 'expiresAt' | 'graceDays'> =>
  call === 'upgrade'
    ? { expiresAt: displayedEnd(key, 0) ?? never, graceDays: 0 }
    : { expiresAt: key.expires_at, graceDays: key.grace_days }
