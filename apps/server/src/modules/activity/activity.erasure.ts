import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { formsOfEmail } from '../../core/ids.ts'
import { inSlices, type Transactions, type Tx } from '../../db/index.ts'
import type { Person } from '../description.ts'
import { columnsOf } from './activity.search.ts'

/** Removes whom up to `count` events of an end user are about, and returns how many. */
const forgetEndUser = (tx: Tx, scope: OwnerScope, clientId: string, count: number): Promise<number> =>
  forget(tx, sql`t.client_id = ${clientId} and coalesce(t.owner_id, '') = ${scope.ownerId}`, count)

/** The same for events of programs that sent a name. */
const forgetSubject = (tx: Tx, { ownerId }: OwnerScope, name: string, count: number): Promise<number> => {
  const isNamed = sql`${columnsOf(tx).subject} = lower(${name}) and t.subject is not null and t.share <> 'init'`
  return forget(tx, sql`t.owner_id = ${ownerId} and ${isNamed}`, count)
}

/** The same for starts of programs at an address, before anyone signed in. */
const forgetAddress = (tx: Tx, { ownerId }: OwnerScope, address: string, count: number): Promise<number> => {
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

/** Removes a person from events that name an end user, an address or a name of it. */
export async function forgetEvents(
  ctx: Transactions,
  actor: VendorActor,
  { email, endUsers }: Person,
): Promise<void> {
  const forget = (one: typeof forgetSubject, what: string) =>
    inSlices(ctx, actor, async ({ tx }, size) => ({ found: await one(tx, actor, what, size) }))
  for (const { id } of endUsers) await forget(forgetEndUser, id)
  for (const name of new Set([...formsOfEmail(email), ...endUsers.map(({ username }) => username)]))
    await forget(forgetSubject, name)
  for (const address of new Set(endUsers.flatMap((endUser) => endUser.address ?? [])))
    await forget(forgetAddress, address)
}
