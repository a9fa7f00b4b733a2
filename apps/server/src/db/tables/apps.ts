import type { MailKind } from '@keyward/contract'
import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface AppTables {
  apps: AppsTable
  app_messages: AppMessagesTable
  app_mails: AppMailsTable
  buyer_mails: BuyerMailsTable
  profiles: ProfilesTable
  app_variables: AppVariablesTable
  app_sdks: AppSdksTable
  signing_keys: SigningKeysTable
  releases: ReleasesTable
  removed_fixes: RemovedFixesTable
  release_days: ReleaseDaysTable
  told_devices: ToldDevicesTable
  told_customers: ToldCustomersTable
  release_notices: ReleaseNoticesTable
  program_hashes: ProgramHashesTable
  blocklist: BlocklistTable
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
  /** Incremented with every change of the app's signing keys; 0 while there is only the first one. */
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
  /** The oldest version that may run; null for all. */
  minimum_version: string | null
  /** Whether everybody can read the feeds of updates. */
  public_updates: Generated<Flag>
  /** Incremented with every change of the releases; 0 if nothing was ever released. */
  releases_version: Generated<number>
  /** Whether licenses of test orders work. */
  test_licenses: Generated<Flag>
  activity_days: Generated<number>
  customer_page: Generated<Flag>
  /** Devices of an end user that its customer can free within 30 days. */
  customer_devices: Generated<number>
  /** `#rrggbb`, or null for the default one. */
  brand_color: string | null
  /** The shop, for people without a license. */
  buy_url: string | null
  /** Whether a license type of the app has links. */
  type_links: Generated<Flag>
  /** Incremented with every change of the block list and of `vpn_allowed`; nodes keep both in memory by version. */
  block_version: Generated<number>
  /** Changes with the app's variables; null without any. */
  variables_revision: Generated<string | null>
  /** When a program that names no SDK last called `init`; written at most once a day. */
  sdkless_init_at: number | null
  created_at: number
}

interface AppMessagesTable {
  app_id: string
  locale: string
  /** JSON of the app's own texts in this language. */
  messages: string
}

/** A mail of an app in one language; the default one has the locale ''. */
interface AppMailsTable {
  app_id: string
  kind: MailKind
  locale: string
  subject: string
  text: string
  html: string | null
  from_name: string | null
  reply_to: string | null
}

/** The last place that a mail of an owner to a buyer has got: days since 1970, each with as many places as it has mails. */
interface BuyerMailsTable {
  owner_id: string
  place: number
  /** The same of mails that tell customers of something, which are among these. */
  customer_place: Generated<number>
}

/** What customers see of a vendor, or of an app in its place; `id` is the id of the vendor or the app. */
interface ProfilesTable {
  id: string
  owner_id: string
  app_id: string | null
  name: string | null
  /** An email address or an https link. */
  support: string | null
  /** The bytes of a picture as base64. */
  logo: string | null
  logo_type: string | null
  /** SHA-256 of the bytes in hex. */
  logo_digest: string | null
}

/** `sealed` is the encrypted list of variables. */
interface AppVariablesTable {
  app_id: string
  revision: string
  sealed: string
}

interface AppSdksTable {
  app_id: string
  /** Name and version, such as `keyward-js/1.2.0`. */
  sdk: string
  first_seen_at: number
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

interface ReleasesTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  version: string
  released_at: number
  link: string | null
  channel: Generated<string>
  updates_from: string | null
  build: string | null
  withdrawn_at: number | null
  /** What security, notes and artifacts take, in UTF-8. */
  bytes: Generated<number>
  /** JSON of what it fixes; null if it is no security fix. */
  security: string | null
  /** Markdown. */
  notes: string | null
  /** JSON list of its files. */
  artifacts: Generated<string>
  created_at: number
}

/** A security fix that was out and is removed. */
interface RemovedFixesTable {
  app_id: string
  version: string
  security: string
}

/** A device whose program got the advisory of a release, and the version that it had. */
interface ToldDevicesTable {
  release_id: string
  device_id: string
  version: string
  at: number
}

/** A customer who got a mail about a release, and how many of its devices were affected then. */
interface ToldCustomersTable {
  release_id: string
  customer_id: string
  devices: number
  at: number
}

/** A release that customers were mailed about within a week. */
interface ReleaseNoticesTable {
  owner_id: string
  release_id: string
  expires_at: number
}

interface ReleaseDaysTable {
  release_id: string
  day: number
  /** Affected devices at the end of the day; null while it was not counted. */
  exposed: number | null
  told_devices: Generated<number>
  told_customers: Generated<number>
}

interface ProgramHashesTable {
  app_id: string
  version: string
  hash: string
  position: number
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
  /** JSON list of what recognizes the device by its parts. */
  marks: Generated<string>
  reason: string | null
  created_at: number
}
