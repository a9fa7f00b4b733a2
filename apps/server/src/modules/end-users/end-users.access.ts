import { type CompiledQuery, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { toSkeleton } from '../../core/skeleton.ts'
import { fixedQuery } from '../../db/fixed-query.ts'
import { insertRows } from '../../db/insert-rows.ts'
import { type Db, locked, type Tx } from '../../db/open.ts'
import { runQuery } from '../../db/own-connections.ts'
import type { ClientRow } from '../../db/tables.ts'
import { updateRows } from '../../db/update-rows.ts'

export async function insertEndUser(tx: Tx, client: NewEndUser): Promise<void> {
  await runQuery(tx, insertRows(tx, 'clients', [client]))
}

export const findByUsername = (
  db: Db,
  appId: string,
  usernameNormalized: string,
): Promise<Pick<ClientRow, 'id' | 'password_hash'> | undefined> =>
  byUsername.first(db, { appId, usernameNormalized })

const byUsername = fixedQuery((db, values: { appId: string; usernameNormalized: string }) =>
  db
    .selectFrom('clients')
    .select(['id', 'password_hash'])
    .where('app_id', '=', values.appId)
    .where('username_normalized', '=', values.usernameNormalized),
)

/** Finds an end user within an app that the caller has checked. */
export const findById = (db: Db, appId: string, id: string): Promise<ClientRow | undefined> =>
  db.selectFrom('clients').selectAll().where('app_id', '=', appId).where('id', '=', id).executeTakeFirst()

export async function isEndUserOf(db: Db, scope: OwnerScope, id: string): Promise<boolean> {
  const found = await db
    .selectFrom('clients')
    .select('id')
    .where('id', '=', id)
    .where('owner_id', '=', scope.ownerId)
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
  'device_count',
  'device_freed_at',
  'last_address',
  'banned',
  'ban_reason',
  'paused_at',
  'expires_at',
  'grace_days',
  'variables_revision',
  'added_features',
  'added_devices',
  'added_seats',
  'added_seat_timeout',
  'last_login_at',
  'created_at',
] as const satisfies (keyof ClientRow)[]

/** What changes of an end user, and sign-ins, decide by. */
export type LockedEndUser = Pick<ClientRow, (typeof lockedColumns)[number]>

/** Locks the row until the transaction ends. */
export const lockEndUser = (tx: Tx, scope: OwnerScope, id: string): Promise<LockedEndUser | undefined> =>
  lockOne.first(tx, { id, ownerId: scope.ownerId })

/** The query of `lockEndUser`. */
export const lockOfEndUser = (tx: Tx, scope: OwnerScope, id: string): CompiledQuery<LockedEndUser> =>
  lockOne.bind(tx, { id, ownerId: scope.ownerId })

const lockOne = fixedQuery((db, values: { id: string; ownerId: string }) =>
  locked(
    db,
    db
      .selectFrom('clients')
      .select(lockedColumns)
      .where('id', '=', values.id)
      .where('owner_id', '=', values.ownerId),
  ),
)

export async function updateEndUser(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  change: Partial<
    Pick<
      ClientRow,
      | 'banned'
      | 'ban_reason'
      | 'paused_at'
      | 'device_freed_at'
      | 'last_login_at'
      | 'last_address'
      | 'password_hash'
    >
  >,
): Promise<void> {
  await updateRows(tx, 'clients', change, { id, owner_id: scope.ownerId })
}

/** Fills the skeletons of up to `count` older names and returns how many; the first of several lookalikes gets it. */
export async function fillSkeletons(tx: Tx, count: number): Promise<number> {
  const pending = await tx
    .selectFrom('clients')
    .select(['seq', 'app_id', 'username'])
    .where('name_skeleton', 'is', null)
    .where('password_hash', 'is not', null)
    .orderBy('seq')
    .limit(count)
    .execute()
  for (const { seq, app_id: appId, username } of pending) {
    const skeleton = toSkeleton(username)
    const taken = await tx
      .selectFrom('clients')
      .select('id')
      .where('app_id', '=', appId)
      .where('name_skeleton', '=', skeleton)
      .where('name_skeleton', '<>', sql.lit(''))
      .executeTakeFirst()
    await tx
      .updateTable('clients')
      .set({ name_skeleton: taken ? '' : skeleton })
      .where('seq', '=', seq)
      .execute()
  }
  return pending.length
}

export type NewEndUser = Pick<
  ClientRow,
  | 'id'
  | 'owner_id'
  | 'app_id'
  | 'license_id'
  | 'username'
  | 'username_normalized'
  | 'name_skeleton'
  | 'email'
  | 'password_hash'
  | 'hwid'
  | 'hwid_hash'
  | 'device_count'
  | 'expires_at'
  | 'last_login_at'
  | 'created_at'
> &
  Partial<Pick<ClientRow, 'grace_days' | 'last_address'>>

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

type OfflineEnd = 'lease_until' | 'activation_until'

/**
 * Counts a statement with which a program runs offline until `until`, in milliseconds: a lease, or the file of a machine
 * that is never online. Returns its number; undefined without the end user.
 */
export async function nextStatement(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  { column, until }: { column: OfflineEnd; until: number },
): Promise<number | undefined> {
  const end = sql.ref<number | null>(column)
  const row = await tx
    .updateTable('clients')
    .set({
      lease_seq: sql`lease_seq + 1`,
      [column]: sql`case when ${end} > ${until} then ${end} else cast(${until} as bigint) end`,
    })
    .where('owner_id', '=', scope.ownerId)
    .where('id', '=', id)
    .returning('lease_seq')
    .executeTakeFirst()
  return row?.lease_seq
}

export async function setActivationEnd(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  until: number | null,
): Promise<void> {
  await tx
    .updateTable('clients')
    .set({ activation_until: until })
    .where('owner_id', '=', scope.ownerId)
    .where('id', '=', id)
    .execute()
}
