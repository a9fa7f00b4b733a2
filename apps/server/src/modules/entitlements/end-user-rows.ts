import { type SelectQueryBuilder, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, inScope, prepared, type Tx } from '../../db/index.ts'
import type { ClientRow, Tables } from '../../db/tables.ts'
import { rememberNames } from './former-names.ts'

export type NewEndUser = Pick<
  ClientRow,
  | 'id'
  | 'owner_id'
  | 'app_id'
  | 'license_id'
  | 'username'
  | 'username_normalized'
  | 'email'
  | 'password_hash'
  | 'hwid'
  | 'hwid_hash'
  | 'device_count'
  | 'expires_at'
  | 'last_login_at'
  | 'created_at'
> &
  Partial<Pick<ClientRow, 'grace_days' | 'last_address' | 'customer_id'>>

export async function insertEndUser(tx: Tx, client: NewEndUser): Promise<void> {
  await prepared.insert(tx, 'clients', [client]).execute()
}

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
      | 'username'
      | 'username_normalized'
      | 'email'
      | 'customer_id'
      | 'activation_until'
    >
  >,
): Promise<void> {
  if (change.username_normalized !== undefined) await rememberName(tx, scope, id, change.username_normalized)
  await prepared.update(tx, 'clients', change, { id, scope }).later()
}

async function rememberName(tx: Tx, scope: OwnerScope, id: string, next: string): Promise<void> {
  const former = await tx
    .selectFrom('clients')
    .select(['app_id', 'username_normalized'])
    .where('id', '=', id)
    .where(inScope(scope))
    .where('username_normalized', '<>', next)
    .execute()
  await rememberNames(tx, former)
}

export async function updateEndUsers(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
  change: Partial<Pick<ClientRow, 'banned' | 'ban_reason' | keyof BoundDevice | 'device_count'>>,
): Promise<void> {
  await tx
    .updateTable('clients')
    .set(change)
    .where('id', 'in', ids)
    .where(foundInScope(scope, 'clients'))
    .execute()
}

/** Deletes end users with these ids, or those of an app that a query finds before the app is deleted; returns how many. */
export async function deleteEndUserRows(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[] | SelectQueryBuilder<Tables, 'clients', { id: string }>,
): Promise<number> {
  const deleted = await tx
    .deleteFrom('clients')
    .where('id', 'in', ids)
    .where(foundInScope(scope, 'clients'))
    .returning(['app_id', 'username_normalized'])
    .execute()
  if (Array.isArray(ids)) await rememberNames(tx, deleted)
  return deleted.length
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
    .where(inScope(scope))
    .where('id', '=', id)
    .returning('lease_seq')
    .executeTakeFirst()
  return row?.lease_seq
}

/** Locks the end user from here on, names the revision and returns its app; undefined without such an end user. */
export async function setVariablesRevision(
  tx: Tx,
  scope: OwnerScope,
  clientId: string,
  revision: string | null,
): Promise<string | undefined> {
  const client = await tx
    .updateTable('clients')
    .set({ variables_revision: revision })
    .where('id', '=', clientId)
    .where(inScope(scope))
    .returning('app_id')
    .executeTakeFirst()
  return client?.app_id
}

export type Binding = Partial<Pick<ClientRow, 'hwid' | 'hwid_hash' | 'last_login_at' | 'last_address'>>

/** Takes a place for one more device unless all are taken; the caller inserts the device. */
export async function takePlace(
  tx: Tx,
  scope: OwnerScope,
  clientId: string,
  binding: Binding,
  { limit, removed }: { limit: number; removed: number },
): Promise<boolean> {
  const query = tx
    .updateTable('clients')
    .set((eb) => ({ ...binding, device_count: eb('device_count', '+', 1 - removed) }))
    .where('id', '=', clientId)
    .where(inScope(scope))
    .returning('id')
  const guarded = limit < 0 ? query : query.where('device_count', '<', limit)
  return (await guarded.executeTakeFirst()) !== undefined
}

export async function updateBinding(
  tx: Tx,
  scope: OwnerScope,
  clientId: string,
  binding: Binding,
): Promise<void> {
  if (Object.keys(binding).length === 0) return
  await prepared.update(tx, 'clients', binding, { id: clientId, scope }).later()
}

type BoundDevice = Pick<ClientRow, 'hwid' | 'hwid_hash'>

/** Counts `freed` devices less, and binds the end user to the device seen last. */
export async function leaveDevices(
  tx: Tx,
  scope: OwnerScope,
  clientId: string,
  { freed, latest }: { freed: number; latest: BoundDevice | undefined },
): Promise<void> {
  await tx
    .updateTable('clients')
    .set((eb) => ({
      device_count: eb('device_count', '-', freed),
      hwid: latest?.hwid ?? null,
      hwid_hash: latest?.hwid_hash ?? null,
    }))
    .where('id', '=', clientId)
    .where(inScope(scope))
    .execute()
}

/** Sets the hardware id of the device seen last, unless it is the same. */
export async function setLatestDevice(
  tx: Tx,
  clientId: string,
  { hwid, hwid_hash }: { hwid: string; hwid_hash: string },
): Promise<void> {
  await tx
    .updateTable('clients')
    .set({ hwid, hwid_hash })
    .where('id', '=', clientId)
    .where((eb) => eb.or([eb('hwid_hash', '<>', hwid_hash), eb('hwid_hash', 'is', null)]))
    .execute()
}
