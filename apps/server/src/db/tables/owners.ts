import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface OwnerTables {
  owners: OwnersTable
  owner_sessions: OwnerSessionsTable
  password_resets: PasswordResetsTable
  attempts: AttemptsTable
  known_addresses: KnownAddressesTable
}

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
