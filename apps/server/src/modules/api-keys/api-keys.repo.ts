import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, prepared, type Tx } from '../../db/index.ts'
import type { ApiKeyRow } from '../../db/tables.ts'

/** The keys of a vendor that are not revoked, newest first. */
export const listApiKeys = (db: Db, { ownerId }: OwnerScope): Promise<ApiKeyRow[]> =>
  db
    .selectFrom('api_keys')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where('revoked_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limits.apiKeysMax)
    .execute()

/** Undefined if the vendor has no such key that still works. */
export const findApiKey = (db: Db, { ownerId }: OwnerScope, id: string): Promise<ApiKeyRow | undefined> =>
  db
    .selectFrom('api_keys')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()

type NewRow = Omit<ApiKeyRow, 'last_used_at' | 'last_address' | 'revoked_at'>

/** False if the vendor has as many keys as it can have; the caller has locked the vendor's row. */
export async function insertApiKey(tx: Tx, row: NewRow): Promise<boolean> {
  const columns = Object.keys(row) as (keyof NewRow)[]
  const { rows } = await sql`insert into api_keys (${sql.join(columns.map((column) => sql.ref(column)))})
    select ${sql.join(columns.map((column) => sql`cast(${row[column]} as ${sql.raw(typeOf(column))})`))}
    where (select count(*) from api_keys where owner_id = ${row.owner_id} and revoked_at is null)
      < ${limits.apiKeysMax}
    returning id`.execute(tx)
  return rows.length > 0
}

/** PostgreSQL cannot tell the types of parameters in a select. */
const typeOf = (column: keyof NewRow) => (column.endsWith('_at') ? 'bigint' : 'text')

/** Undefined if the vendor has no such key that still works. */
export const revokeApiKey = (
  tx: Tx,
  { ownerId }: OwnerScope,
  id: string,
  now: number,
): Promise<Pick<ApiKeyRow, 'name'> | undefined> =>
  tx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('name')
    .executeTakeFirst()

/** Records name revoked keys, so their rows stay; those revoked first make room. */
const revokedMost = 1000

export async function deleteLongRevoked(tx: Tx, { ownerId }: OwnerScope): Promise<void> {
  const oldest = tx
    .selectFrom('api_keys')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('revoked_at', 'is not', null)
    .orderBy('revoked_at', 'desc')
    .orderBy('id')
    .limit(limits.apiKeysMax)
    .offset(revokedMost)
  await tx.deleteFrom('api_keys').where('id', 'in', oldest).execute()
}

/** Takes no scope: the key itself names the vendor. */
export const apiKeyByHash = prepared((db, values: { keyHash: string }) =>
  db
    .selectFrom('api_keys as k')
    .innerJoin('owners as o', 'o.id', 'k.owner_id')
    .select(['k.id', 'k.owner_id', 'k.permissions', 'k.apps', 'k.networks', 'k.expires_at'])
    .select(['k.last_used_at', 'k.revoked_at', 'o.disabled_at'])
    .where('k.key_hash', '=', values.keyHash),
)

/** Writes nothing if another request has noted a use since `before`. */
export async function noteUse(
  db: Db,
  id: string,
  { now, before, address }: { now: number; before: number; address: string },
): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: now, last_address: address })
    .where('id', '=', id)
    .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', before)]))
    .execute()
}
