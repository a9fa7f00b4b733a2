import type { ImportOutcome, ImportPreset, ImportState } from '@keyward/contract'
import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

/** The preset of what `POST /licenses/import` has decided to create: its rows are licenses, whose places are held. */
export const called = 'call'

export interface DataImportTables {
  data_imports: DataImportsTable
  data_import_files: DataImportFilesTable
  data_import_parts: DataImportPartsTable
  data_import_rows: DataImportRowsTable
  imported_users: ImportedUsersTable
}

/** An import from another system, who started it, and how far it is. */
interface DataImportsTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  actor_kind: string
  actor_id: string
  /** Empty for an API key. */
  session_id: string
  address: string
  preset: ImportPreset | typeof called
  /** JSON. */
  mapping: string
  answers: Generated<string>
  questions: Generated<string>
  state: ImportState
  dry_run: Generated<Flag>
  /** Whether the files of this run are in `data_import_rows`. */
  is_read: Generated<Flag>
  row_count: Generated<number>
  /** The last row that this run, or this undo, has finished. */
  done: Generated<number>
  created: Generated<number>
  licenses: Generated<number>
  clients: Generated<number>
  skipped: Generated<number>
  failed: Generated<number>
  kept: Generated<number>
  problem: Generated<string | null>
  /** The process that works on it, and until when it may. */
  claim: Generated<string | null>
  /** Null while there is nothing to do. */
  claimed_until: Generated<number | null>
  /** When its files are deleted; null without any. */
  files_until: Generated<number | null>
  kept_until: number
  created_at: number
  finished_at: Generated<number | null>
}

interface DataImportFilesTable {
  id: string
  import_id: string
  app_id: string
  name: string
  bytes: number
  created_at: number
}

interface DataImportPartsTable {
  file_id: string
  part: number
  import_id: string
  app_id: string
  sealed: string
}

interface DataImportRowsTable {
  import_id: string
  app_id: string
  n: number
  /** Rows of one end user have the same number, and are created together. */
  unit: number
  file: string
  line: number
  kind: 'license' | 'client'
  /** The key or the username; empty after the end user was erased. */
  name: string
  /** JSON of what was read; null once the row is finished. */
  content: string | null
  outcome: ImportOutcome | null
  message: string | null
  license_id: string | null
  client_id: string | null
}

/** What is known of an imported end user besides its row. */
interface ImportedUsersTable {
  client_id: string
  /** SHA-1 of the e-mail address in lower case. */
  email_sha1: string
}
