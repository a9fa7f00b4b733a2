import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import type { Tx } from '../../db/index.ts'
import { columnsOf } from './activity.search.ts'

/** Removes whom up to `count` events of an end user are about, and returns how many. */
export const forgetEndUser = (tx: Tx, scope: OwnerScope, clientId: string, count: number): Promise<number> =>
  forget(tx, sql`t.client_id = ${clientId} and coalesce(t.owner_id, '') = ${scope.ownerId}`, count)

/** The same for events of programs that sent a name. */
export const forgetSubject = (
  tx: Tx,
  { ownerId }: OwnerScope,
  name: string,
  count: number,
): Promise<number> => {
  const isNamed = sql`${columnsOf(tx).subject} = lower(${name}) and t.subject is not null and t.share <> 'init'`
  return forget(tx, sql`t.owner_id = ${ownerId} and ${isNamed}`, count)
}

/** The same for starts of programs at an address, before anyone signed in. */
export const forgetAddress = (
  tx: Tx,
  { ownerId }: OwnerScope,
  address: string,
  count: number,
): Promise<number> => {
  const isThere = sql`${columnsOf(tx).address} = ${address} and t.address is not null and t.share = 'init'`
  return forget(tx, sql`t.owner_id = ${ownerId} and ${isThere}`, count)
}

async function forget(tx: Tx, found: RawBuilder<SqlBool>, count: number): Promise<number> {
  const some = tx.selectFrom('activity as t').select('t.seq').where(found).limit(count)
  const rows = await tx
    .updateTable('activity')
    .set({ client_id: null, subject: null, address: null, detail: null })
    .where('seq', 'in', some)
    .returning('seq')
    .execute()
  return rows.length
}
