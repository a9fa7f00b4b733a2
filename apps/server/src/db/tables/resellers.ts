import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'
import type { AccountSessionColumns } from './owners.ts'

export interface ResellerTables {
  resellers: ResellersTable
  reseller_sessions: ResellerSessionsTable
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

interface ResellerSessionsTable extends AccountSessionColumns {
  reseller_id: string
}
