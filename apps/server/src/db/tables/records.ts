import type { Generated } from 'kysely'

export interface RecordTables {
  audit: AuditTable
  audit_objects: AuditObjectsTable
  audit_lists: AuditListsTable
  activity: ActivityTable
  activity_shares: ActivitySharesTable
  idempotency_keys: IdempotencyKeysTable
}

interface AuditTable {
  seq: Generated<number>
  id: string
  owner_id: string | null
  actor_kind: string
  actor_id: string
  session_id: string | null
  address: string | null
  action: string
  target_id: string | null
  app_id: string | null
  detail: string | null
  created_at: number
}

interface AuditObjectsTable {
  /** That of the record. */
  seq: number
  object_id: string
}

/** Only in the embedded database. */
interface AuditListsTable {
  /** That of the record. */
  seq: number
  /** JSON: the ids of its objects. */
  objects: string
}

interface ActivityTable {
  seq: Generated<number>
  reference: string
  owner_id: string
  app_id: string
  client_id: string | null
  kind: string
  share: 'init' | 'refusals' | 'sign_ins' | 'logs' | 'other'
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

interface ActivitySharesTable {
  app_id: string
  share: ActivityTable['share']
  owner_id: string
  n: number
}

interface IdempotencyKeysTable {
  /** A keyed hash of account and key. */
  id: string
  owner_id: string
  /** A keyed hash of method, path and input. */
  request_hash: string
  /** Sealed: the answer, or the results of what was committed so far. */
  answer: string
  /** The run that has not yet answered; null for a stored answer. */
  runner: string | null
  /** The size of the answer as stored. */
  bytes: Generated<number>
  expires_at: number
}
