import type { LicenseRow } from '../../db/tables.ts'

/** What a license was sold with. */
export type SoldTerms = Pick<
  LicenseRow,
  | 'term'
  | 'duration_value'
  | 'duration_unit'
  | 'started_at'
  | 'grace_days'
  | 'devices'
  | 'seats'
  | 'seat_timeout_seconds'
  | 'features'
  | 'updates_for_days'
  | 'trial'
  | 'type_id'
>

/** A license for one device until a date. */
export const plainTerms: SoldTerms = {
  term: 'date',
  duration_value: null,
  duration_unit: null,
  started_at: null,
  grace_days: 0,
  devices: 1,
  seats: null,
  seat_timeout_seconds: 600,
  features: '[]',
  updates_for_days: null,
  trial: 0,
  type_id: null,
}
