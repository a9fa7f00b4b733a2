import { limits } from '@keyward/contract'
import type { Insertable, Updateable } from 'kysely'
import { sql } from 'kysely'
import type { OfOwner } from '../../core/actor.ts'
import { type Db, lock, type Tx } from '../../db/index.ts'
import type { Tables, WebhookRow } from '../../db/tables.ts'

/** The webhooks of a vendor, newest first. The caller leaves out those of apps that its actor does not see. */
export const listWebhooks = (db: Db, { ownerId }: OfOwner): Promise<WebhookRow[]> =>
  db
    .selectFrom('webhooks')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limits.webhooksMax)
    .execute()

const one = (db: Db, { ownerId }: OfOwner, id: string) =>
  db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .where('deleted_at', 'is', null)

export const findWebhook = (db: Db, scope: OfOwner, id: string): Promise<WebhookRow | undefined> =>
  one(db, scope, id).executeTakeFirst()

export const lockWebhook = (tx: Tx, scope: OfOwner, id: string): Promise<WebhookRow | undefined> =>
  lock(tx, one(tx, scope, id)).executeTakeFirst()

/** False if the vendor has as many webhooks as it can have; the caller has locked the vendor's row. */
export async function insertWebhook(tx: Tx, row: Insertable<Tables['webhooks']>): Promise<boolean> {
  const columns = Object.keys(row) as (keyof typeof row)[]
  const { rows } = await sql`insert into webhooks (${sql.join(columns.map((column) => sql.ref(column)))})
    select ${sql.join(columns.map((column) => sql`cast(${row[column]} as ${sql.raw(typeOf(column))})`))}
    where (select count(*) from webhooks where owner_id = ${row.owner_id} and deleted_at is null)
      < ${limits.webhooksMax}
    returning id`.execute(tx)
  return rows.length > 0
}

/** PostgreSQL cannot tell the types of parameters in a select. */
const typeOf = (column: string) => (column.endsWith('_at') ? 'bigint' : 'text')

/** The caller has found the webhook within the scope of its actor. */
export async function updateWebhook(
  tx: Tx,
  id: string,
  change: Updateable<Tables['webhooks']>,
): Promise<void> {
  await tx.updateTable('webhooks').set(change).where('id', '=', id).execute()
}

/** Notes that something was delivered, or when a series of failures began. Takes no scope: it belongs to the delivery. */
export async function noteHealth(tx: Tx, id: string, failingSince: number | null): Promise<void> {
  const found = tx.updateTable('webhooks').set({ failing_since: failingSince }).where('id', '=', id)
  // Writes nothing while nothing changes: deliveries of a webhook run at once, and would wait for its row.
  await found.where('failing_since', failingSince === null ? 'is not' : 'is', null).execute()
}

/** Webhooks of a vendor that name an app. */
export const listNaming = (tx: Tx, { ownerId }: OfOwner, appId: string): Promise<WebhookRow[]> =>
  tx
    .selectFrom('webhooks')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where('deleted_at', 'is', null)
    .where('apps', 'like', `%"${appId}"%`)
    .execute()

/** Deleted webhooks of all vendors, whose logs are left. */
export const listDeleted = async (db: Db): Promise<string[]> =>
  (await db.selectFrom('webhooks').select('id').where('deleted_at', 'is not', null).limit(100).execute()).map(
    ({ id }) => id,
  )

/** Removes a deleted webhook whose log is gone. */
export async function removeWebhook(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('webhooks').where('id', '=', id).where('deleted_at', 'is not', null).execute()
}
