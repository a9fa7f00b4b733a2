import type { LicenseTerm } from '@keyward/contract'
import { accessEnd } from '../../../db/stored-end.ts'
import { partsOf } from '../../devices/devices.access.ts'
import { deviceLimit } from '../../devices/devices.rules.ts'
import { featureEnds, rightsOf } from '../../entitlements/rights.rules.ts'
import { termOf } from '../../entitlements/term.rules.ts'
import { updatesUntil } from '../../entitlements/updates.rules.ts'
import { noReleases } from '../../releases/catalog.rules.ts'
import { type AppFacts, type LicenseFacts, type SessionFacts, toFloating } from './facts.ts'

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
export interface SessionColumns extends AppColumns {
  session_id: string
  session_expires_at: number
  session_secret_version: number
  session_hwid_hash: string | null
  session_locale: string | null
  client_id: string | null
  username: string
  client_email: string | null
  client_banned: Flag
  client_ban_reason: string | null
  client_paused_at: number | null
  client_left_ms: number | null
  client_added_rights: string | null
  client_expires_at: number
  client_grace_days: number
  client_created_at: number
  last_login_at: number | null
  device_count: number
  device_id: string | null
  device_seen_at: number
  device_version: string | null
  told_release: string | null
  part_machine: string | null
  part_board: string | null
  part_disk: string | null
  part_network: string | null
  key_id: string
  key_banned: Flag | null
  key_ban_reason: string | null
  key_test: Flag | null
  key_term: LicenseTerm | null
  key_devices: number
  key_seats: number | null
  key_seat_timeout: number
  seat_until: number | null
  key_features: string | null
  key_updates_for_days: number | null
  key_updates_until: number | null
  key_started_at: number | null
  key_created_at: number
  client_variables_revision: string | null
  session_version: string | null
}

export interface LicenseColumns extends AppColumns {
  license_id: string
  license_key: string | null
  license_used: Flag
  license_started_at: number | null
  license_banned: Flag
  license_ban_reason: string | null
  license_test: Flag
  license_expires_at: number
  license_grace_days: number
  license_term: LicenseTerm
  license_username: string | null
  license_client_id: string
  license_client_banned: Flag
  license_client_ban_reason: string | null
  license_client_paused_at: number | null
  license_client_left_ms: number | null
  license_client_added_rights: string | null
  license_device_count: number | null
  /** Null without a first license. */
  license_devices: number | null
  license_seats: number | null
  device_id: string | null
  part_machine: string | null
  part_board: string | null
  part_disk: string | null
  part_network: string | null
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
  const expiresAt = accessEnd({ expires_at: row.client_expires_at, left_ms: row.client_left_ms }, now)
  const first =
    row.key_banned === null
      ? null
      : {
          devices: row.key_devices,
          seats: row.key_seats,
          seat_timeout_seconds: row.key_seat_timeout,
          features: row.key_features ?? '[]',
        }
  const added = { added_rights: row.client_added_rights, paused_at: row.client_paused_at }
  const rights = rightsOf(first, added, now)
  return {
    id: row.session_id,
    expiresAt: row.session_expires_at,
    secretVersion: row.session_secret_version,
    tokenHash: null,
    hwidHash: row.session_hwid_hash,
    locale: row.session_locale,
    version: row.session_version,
    app,
    endUser:
      row.client_id === null
        ? null
        : {
            id: row.client_id,
            username: row.username,
            email: row.client_email,
            isBanned: row.client_banned === 1,
            banReason: row.client_ban_reason,
            isPaused: row.client_paused_at !== null,
            expiresAt,
            graceDays: row.client_grace_days,
            term: termOf(row.key_term && { term: row.key_term }, row.client_expires_at),
            createdAt: row.client_created_at,
            lastLoginAt: row.last_login_at,
            devices: { used: row.device_count, limit: deviceLimit(rights) },
            startedAt: row.key_started_at,
            floating: toFloating(rights, row.key_id),
            features: rights?.features ?? '[]',
            featureEnds: featureEnds(first, added, now),
            updatesUntil:
              row.key_term === null
                ? null
                : updatesUntil({
                    term: row.key_term,
                    started_at: row.key_started_at,
                    created_at: row.key_created_at,
                    updates_for_days: row.key_updates_for_days,
                    updates_until: row.key_updates_until,
                  }),
            variablesRevision: row.client_variables_revision,
          },
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
    firstKey:
      row.key_banned === null
        ? null
        : {
            id: row.key_id,
            isBanned: row.key_banned === 1,
            banReason: row.key_ban_reason,
            isTest: row.key_test === 1,
            // An end user and its first license share their end.
            expiresAt,
            graceDays: row.client_grace_days,
            startedAt: row.key_started_at,
          },
  }
}

export const toLicenseFacts = (row: LicenseColumns, app: AppFacts, now: number): LicenseFacts => ({
  app,
  key:
    row.license_key === null
      ? null
      : {
          id: row.license_id,
          text: row.license_key,
          isUsed: row.license_used === 1,
          isBanned: row.license_banned === 1,
          banReason: row.license_ban_reason,
          isTest: row.license_test === 1,
          expiresAt: accessEnd(
            { expires_at: row.license_expires_at, left_ms: row.license_client_left_ms },
            now,
          ),
          startedAt: row.license_started_at,
          graceDays: row.license_grace_days,
          term: row.license_term,
        },
  endUser:
    row.license_username === null
      ? null
      : {
          id: row.license_client_id,
          username: row.license_username,
          isBanned: row.license_client_banned === 1,
          banReason: row.license_client_ban_reason,
          isPaused: row.license_client_paused_at !== null,
        },
  device: row.device_id === null ? null : { parts: partsOf(row) },
  devices: {
    used: row.license_device_count ?? 0,
    limit: deviceLimit(
      rightsOf(
        row.license_devices === null
          ? null
          : {
              devices: row.license_devices,
              seats: row.license_seats,
              seat_timeout_seconds: 0,
              features: '[]',
            },
        { added_rights: row.license_client_added_rights, paused_at: row.license_client_paused_at },
        now,
      ),
    ),
  },
  misses: row.misses === null ? null : { count: row.misses, window_ends: row.misses_end },
})
