import { type CompiledQuery, sql } from 'kysely'
import { type OfOwner, type OwnerScope, sees } from '../../core/actor.ts'
import { type Db, inScope, lock, prepared, type Tx } from '../../db/index.ts'
import type { ClientRow } from '../../db/tables.ts'

export const findByUsername = (
  db: Db,
  appId: string,
  usernameNormalized: string,
): Promise<Pick<ClientRow, 'id' | 'password_hash'> | undefined> =>
  byUsername.first(db, { appId, usernameNormalized })

const byUsername = prepared((db, values: { appId: string; usernameNormalized: string }) =>
  db
    .selectFrom('clients')
    .select(['id', 'password_hash'])
    .where('app_id', '=', values.appId)
    .where('username_normalized', '=', values.usernameNormalized),
)

/** The highest bcrypt cost of an imported hash in an app; undefined without one. Reads one entry of its index. */
export async function findImportedCost(db: Db, appId: string): Promise<number | undefined> {
  const { rows } = await sql<{ cost: string | null }>`select max(substr(password_hash, 5, 2)) as cost
    from clients where app_id = ${appId} and substr(password_hash, 1, 2) = '$2'`.execute(db)
  const cost = rows[0]?.cost
  return cost == null ? undefined : Number(cost)
}

/** Finds an end user within an app that the caller has checked. */
export const findById = (db: Db, appId: string, id: string): Promise<ClientRow | undefined> =>
  db.selectFrom('clients').selectAll().where('app_id', '=', appId).where('id', '=', id).executeTakeFirst()

export async function isEndUserOf(db: Db, scope: OwnerScope, id: string): Promise<boolean> {
  const found = await db
    .selectFrom('clients')
    .select('id')
    .where('id', '=', id)
    .where(inScope(scope))
    .executeTakeFirst()
  return found !== undefined
}

/** Named one by one, because PostgreSQL does not prepare a `select *`. */
const lockedColumns = [
  'id',
  'app_id',
  'license_id',
  'username',
  'email',
  'password_hash',
  'hwid',
  'device_count',
  'device_freed_at',
  'last_address',
  'banned',
  'ban_reason',
  'paused_at',
  'left_ms',
  'expires_at',
  'grace_days',
  'variables_revision',
  'added_rights',
  'last_login_at',
  'created_at',
] as const satisfies (keyof ClientRow)[]

/** What changes of an end user, and sign-ins, decide by. */
export type LockedEndUser = Pick<ClientRow, (typeof lockedColumns)[number]>

/** Locks the row until the transaction ends. */
export async function lockEndUser(tx: Tx, scope: OwnerScope, id: string): Promise<LockedEndUser | undefined> {
  const client = await lockOne.first(tx, { id, ownerId: scope.ownerId })
  return client && sees(scope, client.app_id) ? client : undefined
}

/** The query of `lockEndUser`, for programs. */
export const lockOfEndUser = (tx: Tx, scope: OfOwner, id: string): CompiledQuery<LockedEndUser> =>
  lockOne.with(tx, { id, ownerId: scope.ownerId })

const lockOne = prepared((db, values: { id: string; ownerId: string }) =>
  lock(
    db,
    db
      .selectFrom('clients')
      .select(lockedColumns)
      .where('id', '=', values.id)
      .where('owner_id', '=', values.ownerId),
  ),
)

/** How long leases of an app last, in hours. */
export async function readLeaseTerms(tx: Tx, app: { id: string; ownerId: string }) {
  const row = await tx
    .selectFrom('apps')
    .select(['lease_hours', 'grace_hours'])
    .where('owner_id', '=', app.ownerId)
    .where('id', '=', app.id)
    .executeTakeFirst()
  return row && { leaseHours: row.lease_hours, graceHours: row.grace_hours }
}
