import type { ActionName } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Database, type Db, foundInScope, isIn } from '../../db/index.ts'

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

/** The records of the deletion of objects. */
export async function listDeletions(
  db: Db,
  scope: OwnerScope,
  ids: readonly string[],
  actions: readonly ActionName[],
): Promise<Pick<RecordRow, 'target_id' | 'action' | 'detail'>[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('audit as t')
    .select(['t.target_id', 't.action', 't.detail'])
    .where(isIn(db, 't.target_id', ids))
    .where('t.action', 'in', actions)
    .where(foundInScope(scope, 't'))
    .execute()
}

/** How many licenses of an end user its history tells of. */
const relatedMost = 20

/** The end user of a license, or the newest licenses of an end user. */
export async function findRelated(db: Db, scope: OwnerScope, id: string): Promise<string[]> {
  if (id.startsWith('lic_')) {
    const row = await db
      .selectFrom('licenses as t')
      .select('t.client_id')
      .where('t.id', '=', id)
      .where(foundInScope(scope, 't'))
      .executeTakeFirst()
    return row?.client_id ? [row.client_id] : []
  }
  if (!id.startsWith('usr_')) return []
  const rows = await db
    .selectFrom('licenses as t')
    .select('t.id')
    .where('t.client_id', '=', id)
    .where(foundInScope(scope, 't'))
    .orderBy('t.seq', 'desc')
    .limit(relatedMost)
    .execute()
  return rows.map((row) => row.id)
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
