import type { OldProtocol } from '@keyward/contract'
import type { Generated } from 'kysely'

export interface LazyMoveTables {
  lazy_moves: LazyMovesTable
  former_names: FormerNamesTable
}

/** The provider that end users of an app move from. */
interface LazyMovesTable {
  app_id: string
  owner_id: string
  url: string
  protocol: OldProtocol
  /** The names of the app and of its account at the old provider. */
  old_name: string
  old_owner_id: string
  secret_sealed: string | null
  public_key: string | null
  until: number | null
  moved: Generated<number>
  failed: Generated<number>
  last_failure: string | null
  last_failure_at: number | null
}

/** Names and keys that an app has had and that are deleted or changed; see `former-names.ts`. */
interface FormerNamesTable {
  app_id: string
  digest: string
}
