import type { LicenseType, TypeUpgrade } from '@keyward/contract'
import { addDuration, toIso } from '../../core/clock.ts'
import { normalizeName } from '../../core/ids.ts'
import { invalid } from '../../core/problem.ts'
import { never, toAccessEnd } from '../../db/stored-end.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import { toDuration } from '../entitlements/terms.rules.ts'
import { type LicenseTerms, toTermsFields } from '../licenses/licenses.rules.ts'

/** What an owner defines of a license type. */
export type TypeFields = Omit<LicenseType, '_id' | 'createdAt'>

/** What resellers see of a type. */
export const toOffer = (row: LicenseTypeRow) => ({
  name: row.name,
  term: row.term,
  duration: toDuration(row),
  ...toTermsFields(row),
  keyPrefix: row.key_prefix,
})

export const toFields = (row: LicenseTypeRow): TypeFields => ({
  ...toOffer(row),
  resellable: row.resellable === 1,
  buyUrl: row.buy_url,
  renewUrl: row.renew_url,
  upgrades: upgradesOf(row),
  fallbackAfterMonths: row.fallback_after_months,
})

/** What a payment with the reference of a license of this type can make of it. */
export const upgradesOf = ({ upgrades }: Pick<LicenseTypeRow, 'upgrades'>): TypeUpgrade[] =>
  JSON.parse(upgrades)

/** Whether people with a license of this type get a link. */
export const hasLinks = ({
  buyUrl,
  renewUrl,
  upgrades,
}: Pick<TypeFields, 'buyUrl' | 'renewUrl' | 'upgrades'>) =>
  buyUrl !== null || renewUrl !== null || upgrades.length > 0

export const toLicenseType = (row: LicenseTypeRow): LicenseType => ({
  _id: row.id,
  ...toFields(row),
  createdAt: toIso(row.created_at),
})

export function toColumns(fields: TypeFields) {
  if ((fields.term === 'forever') !== (fields.duration === null)) {
    throw invalid('duration', 'A license that never expires has no duration; every other one requires it')
  }
  return {
    name: fields.name,
    name_normalized: normalizeName(fields.name),
    term: fields.term,
    duration_value: fields.duration?.value ?? null,
    duration_unit: fields.duration?.unit ?? null,
    grace_days: fields.graceDays,
    devices: fields.devices,
    seats: fields.seats,
    seat_timeout_seconds: fields.seatTimeoutSeconds,
    features: JSON.stringify(fields.features),
    updates_for_days: fields.updatesForDays,
    trial: fields.trial ? (1 as const) : (0 as const),
    key_prefix: fields.keyPrefix,
    resellable: fields.resellable ? (1 as const) : (0 as const),
    buy_url: fields.buyUrl,
    renew_url: fields.renewUrl,
    upgrades: JSON.stringify(fields.upgrades),
    fallback_after_months: fields.fallbackAfterMonths,
  }
}

type Term = Pick<LicenseTerms, 'term' | 'duration_value' | 'duration_unit' | 'expires_at'>

/** The term of a license that was created at a time and is not started; a `date` counts from its creation. */
export function toTerm(type: LicenseTypeRow, createdAt: number): Term {
  const { term, duration_value: value, duration_unit: unit, grace_days } = type
  if (term === 'first_use') return { term, duration_value: value, duration_unit: unit, expires_at: never }
  const end =
    term === 'date' && value !== null && unit !== null ? addDuration(createdAt, { value, unit }) : null
  return { term, duration_value: null, duration_unit: null, expires_at: toAccessEnd(end, grace_days) }
}

/** The terms of a license that is generated from a type now. */
export const termsOf = (type: LicenseTypeRow, now: number): LicenseTerms => ({
  ...toTerm(type, now),
  started_at: null,
  grace_days: type.grace_days,
  devices: type.devices,
  seats: type.seats,
  seat_timeout_seconds: type.seat_timeout_seconds,
  features: type.features,
  updates_for_days: type.updates_for_days,
  trial: type.trial,
  type_id: type.id,
})
