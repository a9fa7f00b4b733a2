import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { orderOf, type Page, seek } from '../../core/paging.ts'
import { type Db, foundInScope, inScope, type Tx } from '../../db/index.ts'
import type { OfflineActivationRow } from '../../db/tables.ts'

/** An activation with joined columns for display. */
export interface ActivationView extends OfflineActivationRow {
  username: string
  license_key: string | null
  device_name: string | null
}

const views = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('offline_activations as a')
    .innerJoin('clients as c', 'c.id', 'a.client_id')
    .leftJoin('licenses as l', 'l.id', 'a.license_id')
    .leftJoin('devices as d', 'd.id', 'a.device_id')
    .selectAll('a')
    .select(['c.username', 'l.key as license_key', 'd.name as device_name'])
    .where(foundInScope(scope, 'a'))

export const findActivation = (db: Db, scope: OwnerScope, id: string): Promise<ActivationView | undefined> =>
  views(db, scope).where('a.id', '=', id).executeTakeFirst()

/** A page of activations of an app or one of its end users, newest first, and how many there are. */
export async function pageActivations(
  db: Db,
  scope: OwnerScope,
  { appId, clientId }: { appId: string; clientId: string | undefined },
  page: Page,
): Promise<{ rows: ActivationView[]; total: number }> {
  const counted = db
    .selectFrom('offline_activations')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('app_id', '=', appId)
  const { n } = await (clientId === undefined
    ? counted
    : counted.where('client_id', '=', clientId)
  ).executeTakeFirstOrThrow()
  const total = Number(n)
  const target = seek(page, total, 'newest')
  if (!target) return { rows: [], total }
  const found = views(db, scope).where('a.app_id', '=', appId)
  const rows = await (clientId === undefined ? found : found.where('a.client_id', '=', clientId))
    .orderBy('a.created_at', target.order)
    .orderBy('a.id', target.order)
    .limit(target.limit)
    .offset(target.offset)
    .execute()
  return { rows: target.order === orderOf.newest ? rows : rows.reverse(), total }
}

const find = (db: Db, scope: OwnerScope, appId: string) =>
  db
    .selectFrom('offline_activations')
    .selectAll()
    .where(foundInScope(scope, 'offline_activations'))
    .where('app_id', '=', appId)

export const findByRequest = (
  db: Db,
  scope: OwnerScope,
  appId: string,
  requestHash: string,
): Promise<OfflineActivationRow | undefined> =>
  find(db, scope, appId).where('request_hash', '=', requestHash).executeTakeFirst()

export const findByCode = (
  db: Db,
  scope: OwnerScope,
  appId: string,
  codeHash: string,
): Promise<OfflineActivationRow | undefined> =>
  find(db, scope, appId).where('code_hash', '=', codeHash).executeTakeFirst()

export const insertActivation = (tx: Tx, row: OfflineActivationRow) =>
  tx.insertInto('offline_activations').values(row).execute()

export const updateActivation = (
  tx: Tx,
  scope: OwnerScope,
  id: string,
  change: Partial<OfflineActivationRow>,
) => tx.updateTable('offline_activations').set(change).where(inScope(scope)).where('id', '=', id).execute()

interface Machine {
  clientId: string
  hwidHash: string
}

const ofMachine = (tx: Tx, scope: OwnerScope, { clientId, hwidHash }: Machine) =>
  tx
    .updateTable('offline_activations')
    .where(foundInScope(scope, 'offline_activations'))
    .where('client_id', '=', clientId)
    .where('hwid_hash', '=', hwidHash)

/** Ends the other activations of a machine, whose program keeps only the newest file. */
export const replaceOthers = (tx: Tx, scope: OwnerScope, machine: Machine, id: string, now: number) =>
  ofMachine(tx, scope, machine)
    .set({ ended_by: 'replaced', ended_at: now })
    .where('id', '<>', id)
    .where('ended_by', 'is', null)
    .execute()

/** Ends all activations of a machine that has proven to have forgotten its file. */
export const deactivateAll = (tx: Tx, scope: OwnerScope, machine: Machine, now: number) =>
  ofMachine(tx, scope, machine)
    .set({ ended_by: 'code', ended_at: now })
    .where((eb) => eb.or([eb('ended_by', 'is', null), eb('ended_by', '=', 'replaced')]))
    .execute()

/** Deletes replaced activations of a machine beyond `kept`; those that run longest are kept. */
export async function trimReplaced(
  tx: Tx,
  scope: OwnerScope,
  { clientId, hwidHash }: Machine,
  kept: number,
): Promise<void> {
  const longest = tx
    .selectFrom('offline_activations')
    .select('id')
    .where('client_id', '=', clientId)
    .where('hwid_hash', '=', hwidHash)
    .where('ended_by', '=', 'replaced')
    .orderBy('until', 'desc')
    .orderBy('id', 'desc')
    .limit(kept)
  await tx
    .deleteFrom('offline_activations')
    .where(foundInScope(scope, 'offline_activations'))
    .where('client_id', '=', clientId)
    .where('hwid_hash', '=', hwidHash)
    .where('ended_by', '=', 'replaced')
    .where('id', 'not in', longest)
    .execute()
}

/** Until when a file of an end user can still run; null if none was made or all were deactivated. */
export async function latestEnd(tx: Tx, scope: OwnerScope, clientId: string): Promise<number | null> {
  const row = await tx
    .selectFrom('offline_activations')
    .select(sql<number | null>`max(until)`.as('until'))
    .where(foundInScope(scope, 'offline_activations'))
    .where('client_id', '=', clientId)
    .where((eb) => eb.or([eb('ended_by', 'is', null), eb('ended_by', '=', 'replaced')]))
    .executeTakeFirst()
  return row?.until == null ? null : Number(row.until)
}
