import type { Duration, LicenseTerm, OrderMailState, OrderMailWait } from '@keyward/contract'
import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface LicenseTables {
  licenses: LicensesTable
  license_mails: LicenseMailsTable
  grants: GrantsTable
  license_types: LicenseTypesTable
  seats: SeatsTable
  leased_seats: LeasedSeatsTable
}

interface LicensesTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  reseller_id: string | null
  client_id: string | null
  customer_id: Generated<string | null>
  key: string
  key_normalized: string
  note: string | null
  /** What its reseller wrote, for itself alone. */
  reseller_note: string | null
  used: Generated<Flag>
  used_at: number | null
  banned: Generated<Flag>
  ban_reason: string | null
  /** When access ends, grace days included: counts, filters and verdicts compare it. */
  expires_at: number
  term: Generated<LicenseTerm>
  duration_value: number | null
  duration_unit: Duration['unit'] | null
  /** When the clock of `first_use` started. */
  started_at: number | null
  grace_days: Generated<number>
  /** -1 for unlimited. */
  devices: Generated<number>
  /** Null if bound to devices. */
  seats: number | null
  seat_timeout_seconds: Generated<number>
  /** JSON list of names. */
  features: Generated<string>
  updates_for_days: number | null
  /** The end of updates that payments have moved; null if `updates_for_days` says it. */
  updates_until: Generated<number | null>
  trial: Generated<Flag>
  /** May name a type that was deleted. */
  type_id: string | null
  /** Whether an older key of the app is equal as people type it: such keys match exactly only. */
  key_twin: Generated<Flag>
  /** Whether a test order of a shop created it. */
  test: Generated<Flag>
  created_at: number
}

/**
 * What a license or an end user without one was granted, oldest first, from its first change on: before it, the columns of
 * the license say all. Ends are those that people see.
 */
interface GrantsTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  /** The license, whose end user shares its end. */
  license_id: string | null
  /** The end user, if it has no license. */
  client_id: string | null
  /**
   * `term`: the end of the license itself. `end`: an end that replaces all before it, also what added keys gave. `time`: time
   * that was added. `pause`: access waited. `period`: time beside all others, until its own end.
   */
  kind: 'term' | 'end' | 'time' | 'pause' | 'period'
  /** Since when. */
  at: number
  /**
   * The end, null for never; of a pause the time when it was resumed, null until then; of time where it begins at the earliest,
   * null for where the end was.
   */
  until: number | null
  /** What time moves the end by; null for a key without end. */
  moved_ms: number | null
  /** The time between an end that had passed and the grant, which moves the end too; of a period, how long it waits for others. */
  gap_ms: Generated<number>
  /** What was used of a key that was withdrawn, or of one without end that was withdrawn before. */
  kept_ms: number | null
  /** Until when an added key gives its rights; null for as long as the end user has access. */
  rights_until: number | null
  /** The columns of the license's term, as JSON; null if the end sets them. Of what an order gave: `PaidRights`. */
  terms: string | null
  source_kind: 'key' | 'order' | 'person' | 'import' | 'program'
  source_id: string | null
  /** Since when it does not count. */
  withdrawn_at: number | null
  /** What time moves the end of updates by. */
  updates_ms: Generated<number | null>
  /** The end of updates that it covers at least; with `updates_ms`, where those begin at the earliest. */
  updates_until: Generated<number | null>
}

interface LicenseTypesTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  name: string
  name_normalized: string
  term: LicenseTerm
  duration_value: number | null
  duration_unit: Duration['unit'] | null
  grace_days: number
  devices: number
  seats: number | null
  seat_timeout_seconds: number
  features: string
  updates_for_days: number | null
  trial: Flag
  key_prefix: string | null
  resellable: Flag
  buy_url: string | null
  renew_url: string | null
  /** JSON list of `TypeUpgrade`; its types exist. */
  upgrades: string
  fallback_after_months: number | null
  created_at: number
}

interface SeatsTable {
  session_id: string
  license_id: string
  /** See `Seat`. */
  holder: string
  until: number
}

/** A seat that stays taken until its last lease ends, also after its session has returned it. */
interface LeasedSeatsTable {
  license_id: string
  /** See `Seat`. */
  holder: string
  /** When the last lease ends, grace included. */
  until: number
}

/** The newest mail with the key of a license to its customer, other than the mail of an order. */
interface LicenseMailsTable {
  license_id: string
  owner_id: string
  app_id: string
  customer_id: string
  /** One mail can have the keys of several licenses. */
  batch_id: string
  mail: Exclude<OrderMailState, 'none'>
  mail_waits_for: Exclude<OrderMailWait, 'free_orders'> | null
}
