import { type Duration, type License, licenseStatus, termsDefaults } from '@keyward/contract'
import { meets, type VendorActor } from '../../core/actor.ts'
import { toEpochMs, toIso, toIsoOrNull } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { invalid } from '../../core/problem.ts'
import { accessEnd, never } from '../../db/stored-end.ts'
import type { AppRow, LicenseRow, LicenseTypeRow, ResellerRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { NewLicense } from '../entitlements/license-rows.ts'
import { endFields, toTerms as toShownTerms, updatesUntil } from '../entitlements/terms.rules.ts'
import type { LicenseView, ListedLicense } from './licenses.repo.ts'

/** The columns of a license's terms, its end included. */
export type LicenseTerms = Pick<
  LicenseRow,
  | 'term'
  | 'duration_value'
  | 'duration_unit'
  | 'started_at'
  | 'expires_at'
  | 'grace_days'
  | 'devices'
  | 'seats'
  | 'seat_timeout_seconds'
  | 'features'
  | 'updates_for_days'
  | 'trial'
  | 'type_id'
>

/** The beginning of a key, by which people recognize it: half of it at most. */
export const hintOf = (key: string): string => key.slice(0, Math.min(11, Math.floor(key.length / 2)))

/** The reason of an app that stops licenses of test orders. */
export const ofTestOrder = 'This license is from a test order'

/** A license for one device until a date. */
export const untilDate = (expiresAt: number): LicenseTerms => ({
  term: 'date',
  duration_value: null,
  duration_unit: null,
  started_at: null,
  expires_at: expiresAt,
  grace_days: termsDefaults.graceDays,
  devices: termsDefaults.devices,
  seats: termsDefaults.seats,
  seat_timeout_seconds: termsDefaults.seatTimeoutSeconds,
  features: '[]',
  updates_for_days: termsDefaults.updatesForDays,
  trial: 0,
  type_id: null,
})

export const forever = (): LicenseTerms => ({ ...untilDate(never), term: 'forever' })

/** A license whose clock starts with its first use. */
export const fromFirstUse = ({ value, unit }: Duration): LicenseTerms => ({
  ...untilDate(never),
  term: 'first_use',
  duration_value: value,
  duration_unit: unit,
})

/** The terms of a license that is generated without a type: until a date, forever (null), or a duration from first use. */
export function toTerms(
  { expiresAt, duration }: { expiresAt?: string | null | undefined; duration?: Duration | undefined },
  now: number,
): LicenseTerms {
  if (duration !== undefined) return fromFirstUse(duration)
  if (typeof expiresAt !== 'string') return forever()
  const end = toEpochMs(expiresAt)
  if (end <= now) throw invalid('expiresAt', 'The expiry must be in the future')
  return untilDate(end)
}

/** The response's fields for a license's terms. */
export const toTermsFields = (row: Omit<LicenseTerms, 'expires_at' | 'started_at' | 'type_id'>) => ({
  graceDays: row.grace_days,
  devices: row.devices,
  seats: row.seats,
  seatTimeoutSeconds: row.seat_timeout_seconds,
  features: JSON.parse(row.features) as string[],
  updatesForDays: row.updates_for_days,
  trial: row.trial === 1,
})

type Keyed = Pick<Seal, 'proof'>

const form = /^kwr_[\w-]{36}$/
/**
 * The bytes that base64url encodes as `kwr_`. Prepending the text would make a concatenated string, and `JSON.stringify` takes
 * twice as long for a page of such strings.
 */
const prefix = Buffer.from('kwr_', 'base64url')
const idBytes = 16
const proofDigits = 22
/** Filled anew for each reference: lists make many. */
const bytes = Buffer.alloc(prefix.length + idBytes + proofDigits / 2, prefix)

/**
 * The reference that links to a shop carry: the digits of the license's id, and a proof that the server made it, by the key
 * of keyed hashes, which outlasts every new secret key. It is worth nothing but a payment.
 */
export function toBuyReference({ proof }: Keyed, licenseId: string): string {
  const digits = licenseId.slice('lic_'.length)
  bytes.write(digits + proofOf(proof, digits), prefix.length, 'hex')
  return bytes.toString('base64url')
}

/** The id of the license that a reference names, which may be deleted or another vendor's; undefined for any other text. */
export function readBuyReference({ proof }: Keyed, text: string): string | undefined {
  const reference = text.trim()
  if (!form.test(reference)) return undefined
  const hex = Buffer.from(reference, 'base64url').toString('hex', prefix.length)
  const digits = hex.slice(0, 2 * idBytes)
  return hex.slice(2 * idBytes) === proofOf(proof, digits) ? `lic_${digits}` : undefined
}

const proofOf = (proof: Seal['proof'], digits: string): string =>
  proof(`buy-reference:${digits}`).slice(0, proofDigits)

type Shown = Omit<ListedLicense, 'seq'>

export const asNew = (
  license: NewLicense,
  app: Pick<AppRow, 'name' | 'app_id'>,
  type: Pick<LicenseTypeRow, 'name'> | undefined,
  reseller: Pick<ResellerRow, 'email'> | undefined,
  customer: string | null,
  mail: Pick<LicenseView, 'mail' | 'mail_waits_for'>,
): Shown => ({
  ...license,
  customer,
  client_id: null,
  used: 0,
  used_at: null,
  added: 0,
  updates_until: null,
  app_name: app.name,
  app_public_id: app.app_id,
  username: null,
  left_ms: null,
  reseller_email: reseller?.email ?? null,
  type_name: type?.name ?? null,
  ...mail,
})

export function toLicense(
  { seal }: Pick<Ctx, 'seal'>,
  row: Shown,
  now: number,
  names?: (row: Shown) => string | null,
): License {
  const name = names && { name: names(row) }
  return {
    _id: row.id,
    key: row.key,
    app: { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
    status: licenseStatus(
      { banned: row.banned === 1, used: row.used === 1, endsAt: accessEnd(row, now) },
      now,
    ),
    used: row.used === 1,
    usedBy: row.client_id === null ? null : { _id: row.client_id, username: row.username ?? '', ...name },
    usedAt: toIsoOrNull(row.used_at),
    added: row.added === 1,
    banned: row.banned === 1,
    banReason: row.ban_reason,
    note: row.note,
    test: row.test === 1,
    customer: row.customer,
    buyReference: toBuyReference(seal, row.id),
    mail: row.mail ?? 'none',
    mailWaitsFor: row.mail_waits_for,
    reseller: row.reseller_id === null ? null : { _id: row.reseller_id, email: row.reseller_email ?? '' },
    createdAt: toIso(row.created_at),
    ...endFields(row, now),
    ...toShownTerms(row),
    ...toTermsFields(row),
    updatesUntil: toIsoOrNull(updatesUntil(row)),
    type: row.type_id === null || row.type_name === null ? null : { _id: row.type_id, name: row.type_name },
  }
}

/** The same for a caller who may change licenses and not read them, who gets no key. */
export function toReadable(actor: VendorActor, license: License): License {
  const isReadable = meets(actor, { anyOf: ['licenses:read', 'licenses:write'] })
  return isReadable ? license : { ...license, key: hintOf(license.key), note: null }
}
