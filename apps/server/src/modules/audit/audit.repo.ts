import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Database, type Db, foundInScope } from '../../db/index.ts'

export interface RecordRow {
  seq: number
  id: string
  actor_kind: string
  actor_id: string
  address: string | null
  action: string
  target_id: string | null
  app_id: string | null
  app_name: string | null
  app_public_id: string | null
  detail: string | null
  created_at: number
}

/** Records by their numbers, newest first. */
export async function listBySeq(
  { lists }: Database,
  scope: OwnerScope,
  seqs: readonly number[],
): Promise<RecordRow[]> {
  if (seqs.length === 0) return []
  return lists
    .selectFrom('audit as t')
    .leftJoin('apps as a', 'a.id', 't.app_id')
    .select([
      't.seq',
      't.id',
      't.actor_kind',
      't.actor_id',
      't.address',
      't.action',
      't.target_id',
      't.app_id',
    ])
    .select(['t.detail', 't.created_at', 'a.name as app_name', 'a.app_id as app_public_id'])
    .where('t.seq', 'in', seqs)
    .where(foundInScope(scope, 't'))
    .orderBy('t.created_at', 'desc')
    .orderBy('t.seq', 'desc')
    .execute()
}

/** The ids of licenses or end users that a search found. */
export async function idsOf(
  db: Db,
  table: 'licenses' | 'clients',
  scope: OwnerScope,
  seqs: readonly number[],
): Promise<string[]> {
  if (seqs.length === 0) return []
  const { rows } = await sql<{ id: string }>`select t.id from ${sql.table(table)} t
    where t.seq in (${sql.join(seqs)}) and ${foundInScope(scope, 't')}`.execute(db)
  return rows.map(({ id }) => id)
}
