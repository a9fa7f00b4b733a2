import type { Duration, LicenseTerm } from '@keyward/contract'
import type { Generated, Kysely, Selectable, Transaction } from 'kysely'

/** Times are milliseconds since 1970, flags are 0 or 1, in both databases. */
type Flag = 0 | 1

interface OwnersTable {
  id: string
  name: string
  email: string
  email_normalized: string
  password_hash: string
  premium_until: number | null
  premium_cancelled_at: Generated<number | null>
  pause_applications: Generated<Flag>
  hwid_lock: Generated<Flag>
  app_count: Generated<number>
  created_at: number
}

interface OwnerSessionsTable {
  id: string
  owner_id: string
  token_hash: string
  created_at: number
  expires_at: number
}

interface PasswordResetsTable {
  id: string
  owner_id: string
  /** Null for the owner's own. */
  reseller_id: string | null
  token_hash: string
  created_at: number
  expires_at: number
}

interface AppsTable {
  id: string
  seq: Generated<number>
  owner_id: string
  app_id: string
  name: string
  secret_sealed: string
  secret_hash: string
  /** Incremented with every new secret; sessions opened with an older one are invalid. */
  secret_version: Generated<number>
  signing_kid: string
  signing_public: string
  signing_sealed: string
  /** Rises with every change of the app's signing keys; 0 while there is only the first one. */
  signing_version: Generated<number>
  remember_days: Generated<number>
  lease_hours: Generated<number>
  grace_hours: Generated<number>
  version: string
  paused: Generated<Flag>
  hwid_lock: Generated<Flag>
  allow_custom_keys: Generated<Flag>
  require_hwid: Generated<Flag>
  require_activation: Generated<Flag>
  device_tolerance: Generated<Flag>
  device_self_service: Generated<Flag>
  device_cooldown_hours: Generated<number>
  messages: Generated<string>
  license_count: Generated<number>
  username_min: Generated<number>
  block_vpn: Generated<Flag>
  /** JSON list of networks that `block_vpn` lets through. */
  vpn_allowed: Generated<string>
  check_hash: Generated<Flag>
  check_passwords: Generated<Flag>
  activity_days: Generated<number>
  /** Incremented with every change of the block list and of `vpn_allowed`; nodes keep both in memory by version. */
  block_version: Generated<number>
  /** Changes with the app's variables; null without any. */
  variables_revision: Generated<string | null>
  /** When a program that names no SDK last called `init`; written at most once a day. */
  sdkless_init_at: number | null
  created_at: number
}

/** A remembered sign-in. */
interface DeviceTokensTable {
  id: string
  owner_id: string
  app_id: string
  client_id: string
  device_id: string
  token_hash: string
  /** The token that was exchanged for the latest one, until that is used. */
  previous_hash: string | null
  created_at: number
  expires_at: number
}

interface OfflineActivationsTable {
  id: string
  owner_id: string
  app_id: string
  client_id: string
  license_id: string | null
  /** Null once the device was freed. */
  device_id: string | null
  /** SHA-256 of the hardware id. */
  hwid_hash: string
  /** Of nonce, hardware id and key: the same request gets the same activation. */
  request_hash: string
  code_hash: string
  /** When the file ends, as `expires_at` of licenses: later than any real end for never. */
  until: number
  created_at: number
  issued_at: number
  ended_at: number | null
  ended_by: 'code' | 'replaced' | null
}

interface SigningKeysTable {
  kid: string
  owner_id: string
  app_id: string
  /** Order of creation within the app, from 1. */
  number: number
  public_key: string
  sealed: string
  status: 'next' | 'current' | 'retired' | 'revoked'
  created_at: number
}

interface AppMessagesTable {
  app_id: string
  locale: string
  /** JSON of the texts that the app has of its own in this language. */
  messages: string
}

interface ResellersTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  email: string
  email_normalized: string
  password_hash: string
  allowed_license_keys: number
  license_count: Generated<number>
  active: Generated<Flag>
  created_at: number
}

interface ResellerSessionsTable {
  id: string
  reseller_id: string
  token_hash: string
  created_at: number
  expires_at: number
}

interface LicensesTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  reseller_id: string | null
  client_id: string | null
  key: string
  key_normalized: string
  note: string | null
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
  trial: Generated<Flag>
  /** May name a type that was deleted. */
  type_id: string | null
  /** The time that an added key gave its end user; null for a key that was not added. */
  added_ms: number | null
  /** How much of it a ban took back; null while the time counts. */
  taken_ms: number | null
  /** Whether an older key of the app is equal as people type it: such keys match exactly only. */
  key_twin: Generated<Flag>
  created_at: number
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
  created_at: number
}

interface ClientsTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  license_id: string | null
  username: string
  username_normalized: string
  email: string | null
  password_hash: string | null
  /** Those of the device seen last. */
  hwid: string | null
  hwid_hash: string | null
  /** The number of rows in `devices`. */
  device_count: Generated<number>
  /** When a program last freed a device of this end user. */
  device_freed_at: number | null
  banned: Generated<Flag>
  ban_reason: string | null
  /** While paused; the time until `expires_at` counts from then and is kept. */
  paused_at: number | null
  /** Where the last sign-in came from. */
  last_address: string | null
  /** When access ends, grace days included: counts, filters and verdicts compare it. */
  expires_at: number
  /** Those of the first license. */
  grace_days: Generated<number>
  /** Equal for names that look alike; empty for names that are not compared, null until housekeeping fills it. */
  name_skeleton: string | null
  /** Changes with the end user's variables; null without any. */
  variables_revision: Generated<string | null>
  last_login_at: number | null
  created_at: number
  /** Leases issued so far. */
  lease_seq: Generated<number>
  /** Until when a lease lets a program run offline, its grace included. */
  lease_until: number | null
  /** Until when an activation file lets a program run offline; later than any real end for never. */
  activation_until: number | null
}

interface DevicesTable {
  id: string
  owner_id: string
  app_id: string
  client_id: string
  /** As the program sent it; `sha256:` and its hash while only that is known. */
  hwid: string
  /** Identifies the device among those of its end user; see `deviceHash`. */
  hwid_hash: string
  name: string | null
  system: string | null
  /** Salted hashes of parts; null where the device has none. */
  part_machine: string | null
  part_board: string | null
  part_disk: string | null
  part_network: string | null
  /** How often the device drifted since `drifting_since`. */
  drifts: Generated<number>
  drifting_since: number | null
  first_seen_at: number
  last_seen_at: number
}

interface SeatsTable {
  session_id: string
  license_id: string
  /** See `Seat`. */
  holder: string
  until: number
}

interface TrialMarksTable {
  app_id: string
  /** Recognizes a device; see `marksOf`. */
  mark: string
  /** May name an end user that was deleted. */
  client_id: string
  created_at: number
}

interface ClientSessionsTable {
  id: string
  app_id: string
  client_id: string | null
  token_hash: string
  hwid_hash: string | null
  /** The program's version; null if it signed in with an earlier version of the server. */
  version: Generated<string | null>
  secret_version: Generated<number>
  /** A canonical language tag, if the program named a language. */
  locale: string | null
  created_at: number
  expires_at: number
}

/** `sealed` is the encrypted list of variables. */
interface AppVariablesTable {
  app_id: string
  revision: string
  sealed: string
}

interface ClientVariablesTable {
  client_id: string
  revision: string
  sealed: string
}

interface ReleasesTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  version: string
  released_at: number
  link: string | null
  created_at: number
}

interface AppSdksTable {
  app_id: string
  /** Name and version, such as `keyward-js/1.2.0`. */
  sdk: string
  first_seen_at: number
}

interface LicenseCountsTable {
  app_id: string
  owner_id: string
  bucket: number
  used: Flag
  banned: Flag
  n: number
}

interface ClientCountsTable {
  app_id: string
  owner_id: string
  bucket: number
  banned: Flag
  n: number
}

/** A block covers 256 buckets. */
type LicenseBlocksTable = Omit<LicenseCountsTable, 'bucket'> & { block: number }
type ClientBlocksTable = Omit<ClientCountsTable, 'bucket'> & { block: number }

type LicensePlacesTable = LicenseBlocksTable & { place: number }
type ClientPlacesTable = ClientBlocksTable & { place: number }

export type DailyMetric = 'licenses' | 'clients' | 'activations' | 'sign_ins'

interface DailyCountsTable {
  app_id: string
  owner_id: string
  day: number
  metric: DailyMetric
  n: number
}

interface AuditTable {
  id: string
  owner_id: string | null
  actor_kind: string
  actor_id: string
  session_id: string | null
  address: string | null
  action: string
  target_id: string | null
  detail: string | null
  created_at: number
}

export type BlockKind = 'hwid' | 'address'

interface BlocklistTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  kind: BlockKind
  value: string
  /** The hash of a hardware id, or the network in its shortest form. */
  value_key: string
  reason: string | null
  created_at: number
}

interface ProgramHashesTable {
  app_id: string
  version: string
  hash: string
  position: number
}

interface ActivityTable {
  seq: Generated<number>
  reference: string
  owner_id: string
  app_id: string
  client_id: string | null
  kind: string
  /** The endpoint, for refusals. */
  call: string | null
  code: string | null
  /** The username or key that the program sent. */
  subject: string | null
  address: string | null
  /** JSON: the state at a refusal. */
  detail: string | null
  times: number
  created_at: number
  last_at: number
}

interface ActivityCountsTable {
  app_id: string
  owner_id: string
  n: number
}

interface AttemptsTable {
  key: string
  count: number
  window_ends: number
}

/** Both are keyed hashes; see `core/account-throttle.ts`. */
interface KnownAddressesTable {
  account: string
  address: string
  expires_at: number
}

interface CouponsTable {
  code: string
  percent: number
  valid_from: number | null
  valid_until: number | null
  max_uses: number | null
  max_uses_per_owner: number | null
  active: Generated<Flag>
  /** Shown to every owner who can use it. */
  listed: Generated<Flag>
}

/**
 * `open` can be paid; `paid` started premium; `closed` was paid and refunded; `failed` was rejected by the provider.
 */
export type OrderStatus = 'open' | 'expired' | 'paid' | 'closed' | 'failed'

interface PaymentOrdersTable {
  id: string
  owner_id: string
  provider: 'razorpay' | 'mock'
  provider_order_id: string | null
  receipt: string
  status: OrderStatus
  plan_duration: 'monthly' | 'yearly'
  list_amount: number
  amount: number
  currency: string
  /** Empty for none. */
  coupon_code: string
  discount: number
  created_at: number
  expires_at: number
  next_check_at: number | null
  checks: Generated<number>
  /** Incremented with every change of what the provider reported, to detect outdated reports. */
  version: Generated<number>
}

interface PaymentsTable {
  id: string
  order_id: string
  owner_id: string
  provider_payment_id: string
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed'
  amount: number
  currency: string
  amount_refunded: number
  method: string | null
  failure: string | null
  /** Why the server refunds the payment automatically. */
  refund_reason: 'money_back' | 'second' | 'different' | null
  refund_due: Generated<Flag>
  dispute: 'open' | 'won' | 'lost' | null
  /** The provider's id of the dispute in `dispute`. */
  dispute_id: string | null
  activated_at: number | null
  period_start: number | null
  period_end: number | null
  /** How much premium time the refund removed; null while the payment counts. */
  taken_back_ms: number | null
  created_at: number
}

interface PlanRemindersTable {
  owner_id: string
  premium_until: number
  days: number
  claimed_at: number
  sent_at: number | null
}

interface MetaTable {
  name: string
  value: string
}

export interface Tables {
  owners: OwnersTable
  owner_sessions: OwnerSessionsTable
  password_resets: PasswordResetsTable
  apps: AppsTable
  app_messages: AppMessagesTable
  resellers: ResellersTable
  signing_keys: SigningKeysTable
  device_tokens: DeviceTokensTable
  offline_activations: OfflineActivationsTable
  reseller_sessions: ResellerSessionsTable
  licenses: LicensesTable
  license_types: LicenseTypesTable
  clients: ClientsTable
  devices: DevicesTable
  seats: SeatsTable
  trial_marks: TrialMarksTable
  client_sessions: ClientSessionsTable
  app_variables: AppVariablesTable
  client_variables: ClientVariablesTable
  releases: ReleasesTable
  app_sdks: AppSdksTable
  license_counts: LicenseCountsTable
  license_blocks: LicenseBlocksTable
  client_counts: ClientCountsTable
  client_blocks: ClientBlocksTable
  license_places: LicensePlacesTable
  client_places: ClientPlacesTable
  daily_counts: DailyCountsTable
  audit: AuditTable
  attempts: AttemptsTable
  blocklist: BlocklistTable
  activity: ActivityTable
  activity_counts: ActivityCountsTable
  program_hashes: ProgramHashesTable
  known_addresses: KnownAddressesTable
  plan_reminders: PlanRemindersTable
  meta: MetaTable
  coupons: CouponsTable
  payment_orders: PaymentOrdersTable
  payments: PaymentsTable
}

/** A database or a transaction; repos receive it as an argument and never keep one. */
export type Db = Kysely<Tables> | Transaction<Tables>
export type Tx = Transaction<Tables>

export type OwnerRow = Selectable<OwnersTable>
export type AppRow = Selectable<AppsTable>
export type ResellerRow = Selectable<ResellersTable>
export type LicenseRow = Selectable<LicensesTable>
export type ActivityRow = Selectable<ActivityTable>
export type BlockRow = Selectable<BlocklistTable>
export type LicenseTypeRow = Selectable<LicenseTypesTable>
export type ReleaseRow = Selectable<ReleasesTable>
export type ClientRow = Selectable<ClientsTable>
export type DeviceRow = Selectable<DevicesTable>
export type CouponRow = Selectable<CouponsTable>
export type OrderRow = Selectable<PaymentOrdersTable>
export type PaymentRow = Selectable<PaymentsTable>

export type DeviceTokenRow = Selectable<DeviceTokensTable>
export type OfflineActivationRow = Selectable<OfflineActivationsTable>
export type SigningKeyRow = Selectable<SigningKeysTable>
