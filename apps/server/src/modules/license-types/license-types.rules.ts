import type { Duration, LicenseTerm, LicenseType } from '@keyward/contract'
import { toIso } from '../../core/clock.ts'
import { normalizeName } from '../../core/ids.ts'
import { invalid } from '../../core/problem.ts'
import { addDuration } from '../../core/time-zones.ts'
import { never, toAccessEnd } from '../../db/stored-end.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import { toDuration } from '../entitlements/term.rules.ts'
import { type LicenseTerms, toTermsFields } from '../licenses/licenses.rules.ts'

/** What an owner defines of a license type. */
export interface TypeFields {
  name: string
  term: LicenseTerm
  duration: Duration | null
  graceDays: number
  devices: number
  seats: number | null
  seatTimeoutSeconds: number
  features: string[]
  updatesForDays: number | null
  trial: boolean
  keyPrefix: string | null
  resellable: boolean
}

export const toFields = (row: LicenseTypeRow): TypeFields => ({
  name: row.name,
  term: row.term,
  duration: toDuration(row),
  ...toTermsFields(row),
  keyPrefix: row.key_prefix,
  resellable: row.resellable === 1,
})

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
  }
}

type Term = Pick<LicenseTerms, 'term' | 'duration_value' | 'duration_unit' | 'expires_at'>

/** The term of a license that was created at a time and is not started; a `date` counts from its creation. */
export function toTerm(type: LicenseTypeRow, createdAt: number): Term {
  const { term, duration_value, duration_unit, grace_days } = type
  const duration = toDuration(type)
  if (term === 'first_use') return { term, duration_value, duration_unit, expires_at: never }
  const end = term === 'date' && duration !== null ? addDuration(createdAt, duration) : null
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
