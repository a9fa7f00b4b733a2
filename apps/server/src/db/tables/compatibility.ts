import type { Flag } from './flag.ts'

export interface CompatibilityTables {
  compatibility: CompatibilityTable
  compatibility_programs: CompatibilityProgramsTable
  compatibility_names: CompatibilityNamesTable
}

/** How programs of another system reach an app. */
interface CompatibilityTable {
  app_id: string
  owner_id: string
  enabled: Flag
  /** What its programs send; together they are unique on a server. */
  owner_ref: string
  name: string
  /** JSON list of protocols. */
  protocols: string
  secret_sealed: string
  /** 64 hex digits. */
  public_key: string
  key_sealed: string
  last_used_at: number | null
}

/** The devices, or else the addresses, that used it within 30 days. */
interface CompatibilityProgramsTable {
  app_id: string
  /** A keyed hash. */
  program: string
  expires_at: number
}

/** What programs have sent to reach an app of a vendor; it leads to no other vendor's app. */
interface CompatibilityNamesTable {
  owner_ref: string
  name: string
  /** The id of the vendor, who may have been deleted. */
  used_by: string
}
