import { accessEnd, displayedEnd, never } from '../../../db/stored-end.ts'
import type { LicenseRow } from '../../../db/tables.ts'
import { deviceLimit } from '../../devices/devices.rules.ts'
import type { LockedEndUser } from '../../end-users/end-users.access.ts'
import { featureEnds, type RightsColumns, rightsOf } from '../../entitlements/rights.rules.ts'
import { termOf } from '../../entitlements/term.rules.ts'
import { updatesUntil } from '../../entitlements/updates.rules.ts'
import type { FirstLicense } from '../../licenses/licenses.access.ts'
import { type EndUserFacts, type KeyFacts, toFloating } from './facts.ts'

type Stored = Omit<
  LockedEndUser,
  | 'app_id'
  | 'license_id'
  | 'password_hash'
  | 'device_freed_at'
  | 'last_address'
  | 'variables_revision'
  | keyof RightsColumns
  | 'left_ms'
> &
  Partial<Pick<LockedEndUser, 'variables_revision' | 'left_ms' | keyof RightsColumns>>

export function toEndUserFacts(
  client: Stored,
  firstLicense: FirstLicense | undefined,
  now: number,
): EndUserFacts {
  const { paused_at = null, added_rights = null } = client
  const rights = rightsOf(firstLicense, { paused_at, added_rights }, now)
  return {
    id: client.id,
    username: client.username,
    email: client.email,
    isBanned: client.banned === 1,
    banReason: client.ban_reason,
    isPaused: paused_at !== null,
    expiresAt: accessEnd(client, now),
    graceDays: client.grace_days,
    term: termOf(firstLicense, client.expires_at),
    createdAt: client.created_at,
    lastLoginAt: client.last_login_at,
    devices: { used: client.device_count, limit: deviceLimit(rights) },
    startedAt: firstLicense?.started_at ?? null,
    floating: toFloating(rights, firstLicense?.id ?? null),
    features: rights?.features ?? '[]',
    featureEnds: featureEnds(firstLicense, { paused_at, added_rights }, now),
    updatesUntil: updatesUntil(firstLicense),
    variablesRevision: client.variables_revision ?? null,
  }
}

type Key = Pick<
  LicenseRow,
  'id' | 'banned' | 'ban_reason' | 'test' | 'expires_at' | 'grace_days' | 'started_at'
>

export const toKeyFacts = (license: Key): KeyFacts => ({
  id: license.id,
  isBanned: license.banned === 1,
  banReason: license.ban_reason,
  isTest: license.test === 1,
  expiresAt: license.expires_at,
  graceDays: license.grace_days,
  startedAt: license.started_at,
})

/** The first license of an end user, who shares its end. */
export const toFirstKeyFacts = (
  license: FirstLicense,
  endUser: Pick<EndUserFacts, 'expiresAt' | 'graceDays'>,
): KeyFacts => toKeyFacts({ ...license, expires_at: endUser.expiresAt, grace_days: endUser.graceDays })

/** A key that `upgrade` adds: its grace days are no time that can be added. */
export const toAddedKeyFacts = (license: LicenseRow): KeyFacts => ({
  ...toKeyFacts(license),
  expiresAt: displayedEnd(license, 0) ?? never,
  graceDays: 0,
})
