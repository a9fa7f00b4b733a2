import type { Role } from '@keyward/contract'
import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface OwnerTables {
  accounts: AccountsTable
  owners: OwnersTable
  members: MembersTable
  owner_sessions: OwnerSessionsTable
  password_resets: PasswordResetsTable
  attempts: AttemptsTable
  known_addresses: KnownAddressesTable
  api_keys: ApiKeysTable
  known_devices: KnownDevicesTable
}

/** A person, who may own one vendor account and be a member of others. */
interface AccountsTable {
  id: string
  name: string
  email: string
  email_normalized: string
  password_hash: string
  created_at: number
  /** When a mailed link has shown that the person reads mail of this address. */
  email_confirmed_at: Generated<number | null>
  /** The vendor account that the person opened last. */
  last_owner_id: string | null
  /** The normalized address to which the last opened link was mailed; mails about vendors go to no other address. */
  confirmed_email: Generated<string | null>
  /** Whether the person wants a mail after a sign-in with a new device. */
  new_sign_in_mail: Generated<Flag>
}

/** A vendor account; `account_id` is the person who owns it. */
interface OwnersTable {
  id: string
  account_id: string
  name: string
  premium_until: number | null
  premium_cancelled_at: Generated<number | null>
  pause_applications: Generated<Flag>
  hwid_lock: Generated<Flag>
  require_second_factor: Generated<Flag>
  app_count: Generated<number>
  /** When the operator disabled it; null while it is in use. */
  disabled_at: Generated<number | null>
  /** What `pause_applications` was before the operator stopped the programs too. */
  paused_before: Generated<Flag | null>
  /** The operator's limits in place of those of the plan; null for those of the plan. */
  max_apps: Generated<number | null>
  max_licenses_per_app: Generated<number | null>
  max_mails: Generated<number | null>
  /** May mail buyers although its owner has confirmed no address. */
  mails_trusted: Generated<Flag>
  created_at: number
}

/** A person in the team of a vendor, or an invitation, which has an address and a token instead of an account. */
interface MembersTable {
  id: string
  owner_id: string
  account_id: string | null
  email: string | null
  email_normalized: string | null
  role: Exclude<Role, 'owner'>
  /** JSON: what the role `custom` may do; null for other roles. */
  permissions: Generated<string | null>
  /** JSON: ids of apps; null for all. */
  apps: string | null
  token_hash: string | null
  token_expires_at: number | null
  created_at: number
  last_used_at: Generated<number | null>
}

/** The columns of sessions in the console and the portal. */
export interface AccountSessionColumns {
  id: string
  token_hash: string
  created_at: number
  expires_at: number
  /** When the holder last proved who it is; signing in counts. */
  confirmed_at: number
  last_used_at: number
  address: string | null
  agent: string | null
}

/** A person's session, which works on one vendor account. */
interface OwnerSessionsTable extends AccountSessionColumns {
  owner_id: string
  account_id: string
}

interface PasswordResetsTable {
  id: string
  /** The person; null if the link is a reseller's. */
  account_id: string | null
  reseller_id: string | null
  token_hash: string
  created_at: number
  expires_at: number
}

interface AttemptsTable {
  key: string
  count: number
  window_ends: number
}

/** Both are keyed hashes; see `service/account-throttle.ts`. */
interface KnownAddressesTable {
  account: string
  address: string
  expires_at: number
}

interface ApiKeysTable {
  id: string
  owner_id: string
  key_hash: string
  /** The last characters of the key. */
  hint: string
  name: string
  /** JSON. */
  permissions: string
  /** A JSON array of app ids; null for all apps. */
  apps: string | null
  /** A JSON array; empty for all networks. */
  networks: string
  expires_at: number | null
  /** The id of the person's account. */
  created_by: string
  created_at: number
  last_used_at: Generated<number | null>
  last_address: Generated<string | null>
  revoked_at: Generated<number | null>
}

/** What a person or a reseller has signed in with. */
interface KnownDevicesTable {
  id: string
  account_id: string | null
  reseller_id: string | null
  network: string
  agent: string
  used_at: number
}
