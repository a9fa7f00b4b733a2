import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, inScope, type Tx } from '../../db/index.ts'
import type { ResellerRow } from '../../db/tables.ts'

/** A reseller with the name of its app. */
export interface ResellerView extends ResellerRow {
  app_name: string
  /** When the operator disabled the vendor account; null while it is in use. */
  vendor_disabled_at: number | null
}

export const views = (db: Db) =>
  db
    .selectFrom('resellers as r')
    .innerJoin('apps as a', 'a.id', 'r.app_id')
    .selectAll('r')
    .select('a.name as app_name')
    .select((eb) =>
      eb
        .selectFrom('owners as o')
        .select('o.disabled_at')
        .whereRef('o.id', '=', 'r.owner_id')
        .as('vendor_disabled_at'),
    )

export const findReseller = (db: Db, scope: OwnerScope, id: string): Promise<ResellerView | undefined> =>
  views(db).where('r.id', '=', id).where(inScope(scope, 'r')).executeTakeFirst()

/** For sign-in, across all owners: addresses of resellers are globally unique. */
export const findByEmail = (db: Db, emailNormalized: string): Promise<ResellerView | undefined> =>
  views(db).where('r.email_normalized', '=', emailNormalized).executeTakeFirst()

/** Takes no scope: the id is that of an account proven by password, reset link or the operator. */
export async function setPasswordHash(tx: Tx, id: string, passwordHash: string): Promise<void> {
  await tx.updateTable('resellers').set({ password_hash: passwordHash }).where('id', '=', id).execute()
}

/** Locks a reseller; false if it is suspended or deleted. The id comes from a session or a reset link. */
export async function lockActive(tx: Tx, id: string): Promise<boolean> {
  const locked = await tx
    .updateTable('resellers')
    .set({ active: 1 })
    .where('id', '=', id)
    .where('active', '=', 1)
    .returning('id')
    .executeTakeFirst()
  return locked !== undefined
}

/**
 * Locks a reseller and returns whether `count` more licenses fit its quota; the insert's trigger counts them. The id
 * comes from a session, or is one that the caller has found in its scope.
 */
export async function reserveQuota(tx: Tx, id: string, count: number): Promise<boolean> {
  const reserved = await tx
    .updateTable('resellers')
    .set({ license_count: sql`license_count` })
    .where('id', '=', id)
    .where('active', '=', 1)
    .where('license_count', '<=', sql<number>`allowed_license_keys - ${sql.lit(count)}`)
    .returning('id')
    .executeTakeFirst()
  return reserved !== undefined
}

/** The reseller of an open session; the id is not from the request. */
export const findById = (db: Db, id: string): Promise<ResellerView | undefined> =>
  views(db).where('r.id', '=', id).executeTakeFirst()
