import { type DeliveryState, limits, testEvent } from '@keyward/contract'
import { type Insertable, sql } from 'kysely'
import { day } from '../../core/clock.ts'
import type { Page } from '../../core/paging.ts'
import { type Database, type Db, isOneOf, lock, prepared, type Tx } from '../../db/index.ts'
import { countUpTo } from '../../db/lists/pages.ts'
import type { DeliveryRow, Tables, WebhookRow } from '../../db/tables.ts'

/** How long the log keeps a delivery; one that was given up is kept from then on. */
export const keptMs = limits.deliveryDays * day

// Webhooks are found within the scope of an actor first; their deliveries are found by the webhook.

export type QueuedDelivery = Insertable<Tables['webhook_deliveries']>

/** Queues a refusal or a test, unless it is queued already; records are queued by `db/record-rows.ts`. */
export async function insertDelivery(tx: Tx, row: QueuedDelivery): Promise<void> {
  await tx
    .insertInto('webhook_deliveries')
    .values(row)
    .onConflict((conflict) => conflict.columns(['webhook_id', 'event_id']).doNothing())
    .execute()
}

const ofApps = (apps: ReadonlySet<string>) => isOneOf(apps, sql`coalesce(app_id, '')`)

/** A page of a webhook's log, newest first, and how many deliveries it has, up to `most` + 1. */
export async function pageDeliveries(
  { lists }: Database,
  { webhookId, apps }: { webhookId: string; apps: ReadonlySet<string> | null },
  { page, limit, state }: Page & { state?: DeliveryState | undefined },
  most: number,
): Promise<{ rows: DeliveryRow[]; total: number }> {
  const found = () => {
    const all = lists.selectFrom('webhook_deliveries').where('webhook_id', '=', webhookId)
    const seen = apps === null ? all : all.where(sql<boolean>`(event = ${testEvent} or ${ofApps(apps)})`)
    return state === undefined ? seen : seen.where('state', '=', state)
  }
  const total = await countUpTo(lists, found().select('seq'), most)
  const offset = (page - 1) * limit
  if (offset >= Math.min(total, most)) return { rows: [], total }
  const rows = await found().selectAll().orderBy('seq', 'desc').limit(limit).offset(offset).execute()
  return { rows, total }
}

export const findDelivery = (db: Db, webhookId: string, eventId: string): Promise<DeliveryRow | undefined> =>
  db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('event_id', '=', eventId)
    .executeTakeFirst()

/** Makes a delivery due now, with three days for its attempts. */
export const retryDelivery = (
  tx: Tx,
  webhookId: string,
  eventId: string,
  now: number,
): Promise<DeliveryRow | undefined> =>
  tx
    .updateTable('webhook_deliveries')
    .set({ state: 'waiting', due_at: now, first_at: null })
    .where('webhook_id', '=', webhookId)
    .where('event_id', '=', eventId)
    .returningAll()
    .executeTakeFirst()

/** Gives up at most `count` waiting deliveries of a webhook, and returns how many; none once it was resumed. */
export async function giveUp(
  tx: Tx,
  webhookId: string,
  { now, count }: { now: number; count: number },
): Promise<number> {
  const some = tx
    .selectFrom('webhook_deliveries')
    .select('seq')
    .where('webhook_id', '=', webhookId)
    .where('due_at', 'is not', null)
    .where((eb) =>
      eb.exists(eb.selectFrom('webhooks').select('id').where('id', '=', webhookId).where('active', '=', 0)),
    )
    .orderBy('due_at')
    .limit(count)
  const rows = await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'given_up', due_at: null, expires_at: now + keptMs })
    .where('seq', 'in', some)
    .where('due_at', 'is not', null)
    .returning('seq')
    .execute()
  return rows.length
}

/** What the operator sees of the deliveries of all webhooks; `since` is when those given up ended at the earliest. */
export async function countDeliveries(
  db: Db,
  since: number,
): Promise<{ waiting: number; oldest: number | null; failing: number; givenUp: number }> {
  const { waiting, oldest, failing } = await db
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => [fn.countAll<number>().as('waiting'), fn.min('happened_at').as('oldest')])
    .select(({ fn }) => fn.count<number>(sql`case when state = 'failed' then 1 end`).as('failing'))
    .where('due_at', 'is not', null)
    .executeTakeFirstOrThrow()
  const { n } = await db
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('expires_at', '>', since + keptMs)
    .where('state', '=', 'given_up')
    .executeTakeFirstOrThrow()
  return { waiting: Number(waiting), oldest, failing: Number(failing), givenUp: Number(n) }
}

/** Deletes up to `count` deliveries of a webhook, and returns how many. */
export async function deleteSome(tx: Tx, webhookId: string, count: number): Promise<number> {
  const some = tx
    .selectFrom('webhook_deliveries')
    .select('seq')
    .where('webhook_id', '=', webhookId)
    .orderBy('seq')
    .limit(count)
  const rows = await tx.deleteFrom('webhook_deliveries').where('seq', 'in', some).returning('seq').execute()
  return rows.length
}

export const hasDue = prepared((db, values: { now: number }) =>
  db.selectFrom('webhook_deliveries').select('seq').where('due_at', '<=', values.now).limit(1),
)

/** A webhook with due deliveries, of any vendor. */
export interface LaneRow {
  id: string
  owner_id: string
  failing_since: number | null
}

/** The first `count` webhooks after one that have waiting deliveries, found one after the other by the index. */
function waitingHooks(after: string, count: number) {
  const next = (place: ReturnType<typeof sql>) => sql`
    select min(d.webhook_id) from webhook_deliveries d
    where d.webhook_id > ${place} and d.due_at is not null`
  return sql`waiting (id, place) as (
      select (${next(sql`${after}`)}), 1
      union all select (${next(sql`waiting.id`)}), place + 1 from waiting
        where waiting.id is not null and place < ${sql.lit(count)}
    )`
}

/** Webhooks with due deliveries, in the order of their ids. */
export async function listLanes(
  db: Db,
  { after, now, count }: { after: string; now: number; count: number },
): Promise<{ rows: LaneRow[]; next: string | undefined }> {
  const { rows } = await sql<LaneRow & { due: number | boolean }>`
    with recursive ${waitingHooks(after, count)}
    select w.id, w.owner_id, w.failing_since,
      exists (select 1 from webhook_deliveries d where d.webhook_id = w.id and d.due_at <= ${now}) as due
    from waiting join webhooks w on w.id = waiting.id order by w.id`.execute(db)
  const last = rows.length < count ? undefined : rows.at(-1)?.id
  return { rows: rows.filter(({ due }) => Boolean(due)), next: last }
}

/** The delivery after the first `most` that wait for a webhook. */
const beyond = (hook: ReturnType<typeof sql>, most: number) => sql`
  (select d.seq from webhook_deliveries d where d.webhook_id = ${hook} and d.due_at is not null
    order by d.due_at, d.seq limit 1 offset ${sql.lit(most)})`

/** Whether more than `most` deliveries wait for a webhook. */
export async function isFull(db: Db, webhookId: string, most: number): Promise<boolean> {
  const { rows } = await sql<{ seq: number | null }>`
    select ${beyond(sql`${webhookId}`, most)} as seq`.execute(db)
  return rows[0]?.seq != null
}

/** Webhooks for which more than `most` deliveries wait, in the order of their ids, from a page of `count` with any. */
export async function listFull(
  db: Db,
  { after, count, most }: { after: string; count: number; most: number },
): Promise<{ rows: Pick<LaneRow, 'id' | 'owner_id'>[]; next: string | undefined }> {
  const { rows } = await sql<{ id: string; owner_id: string; seq: number | null }>`
    with recursive ${waitingHooks(after, count)}
    select w.id, w.owner_id, ${beyond(sql`w.id`, most)} as seq
    from waiting join webhooks w on w.id = waiting.id order by w.id`.execute(db)
  const last = rows.length < count ? undefined : rows.at(-1)?.id
  return { rows: rows.filter(({ seq }) => seq !== null), next: last }
}

/**
 * The webhook of a lane. Takes no scope: it belongs to the delivery. The lock puts claims and outcomes one after the other, so that no
 * claim lets an event wait for one that has just ended.
 */
export const lockHook = (tx: Tx, id: string): Promise<WebhookRow | undefined> =>
  lock(tx, tx.selectFrom('webhooks').selectAll().where('id', '=', id)).executeTakeFirst()

/** What a worker reads of the next deliveries: whether an earlier event of the same subject waits. */
export const listCandidates = (
  tx: Tx,
  { webhookId, now, count }: { webhookId: string; now: number; count: number },
): Promise<{ seq: number; head_seq: number; head_due: number }[]> =>
  tx
    .selectFrom(
      tx
        .selectFrom('webhook_deliveries')
        .select(['seq', 'webhook_id', 'subject', 'due_at'])
        .where('webhook_id', '=', webhookId)
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .orderBy('seq')
        .limit(count)
        .as('d'),
    )
    .innerJoin('webhook_deliveries as h', (join) =>
      join.on('h.seq', '=', (eb) =>
        eb
          .selectFrom('webhook_deliveries as e')
          .select((one) => one.fn.min('e.seq').as('seq'))
          .whereRef('e.webhook_id', '=', 'd.webhook_id')
          .whereRef('e.subject', '=', 'd.subject')
          .where('e.due_at', 'is not', null),
      ),
    )
    .select(['d.seq', 'h.seq as head_seq'])
    .select((eb) => eb.ref('h.due_at').$notNull().as('head_due'))
    .orderBy('d.due_at')
    .orderBy('d.seq')
    .execute()

/** Claims deliveries until `until`; another node may have claimed some of them meanwhile. */
export const claim = (
  tx: Tx,
  seqs: readonly number[],
  { now, until }: { now: number; until: number },
): Promise<DeliveryRow[]> =>
  tx
    .updateTable('webhook_deliveries')
    .set({
      due_at: until,
      attempts: sql`attempts + 1`,
      first_at: sql`coalesce(first_at, cast(${now} as bigint))`,
    })
    .where('seq', 'in', seqs)
    .where('due_at', '<=', now)
    .returningAll()
    .execute()

/** Lets deliveries wait for an earlier one of their subject, which is due at `until`. */
export async function postpone(
  tx: Tx,
  seqs: readonly number[],
  { now, until }: { now: number; until: number },
): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ due_at: until })
    .where('seq', 'in', seqs)
    .where('due_at', '<=', now)
    .execute()
}

/** Keeps the body, made with the rights of a maker, for all attempts; unless the delivery was claimed again since. */
export async function setBody(
  tx: Tx,
  { seq, attempts }: Pick<DeliveryRow, 'seq' | 'attempts'>,
  made: { body: string; body_maker: string },
): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set(made)
    .where('seq', '=', seq)
    .where('attempts', '=', attempts)
    .execute()
}

/** Stores an attempt, unless the delivery was claimed again since. Returns whether it did. */
export async function storeAttempt(
  tx: Tx,
  { seq, attempts }: Pick<DeliveryRow, 'seq' | 'attempts'>,
  result: Pick<
    DeliveryRow,
    'state' | 'due_at' | 'status' | 'error' | 'duration_ms' | 'request' | 'response'
  > &
    Partial<Pick<DeliveryRow, 'expires_at'>>,
): Promise<boolean> {
  const row = await tx
    .updateTable('webhook_deliveries')
    .set(result)
    .where('seq', '=', seq)
    .where('attempts', '=', attempts)
    .where('due_at', 'is not', null)
    .returning('seq')
    .executeTakeFirst()
  return row !== undefined
}

/** Removes an event that the webhook's maker may not read. */
export async function dropDelivery(tx: Tx, seq: number): Promise<void> {
  await tx.deleteFrom('webhook_deliveries').where('seq', '=', seq).execute()
}

/** Makes the next event of a subject due, now that the one before it is done. */
export async function releaseNext(
  tx: Tx,
  { webhook_id, subject }: Pick<DeliveryRow, 'webhook_id' | 'subject'>,
  now: number,
): Promise<void> {
  const next = tx
    .selectFrom('webhook_deliveries')
    .select((eb) => eb.fn.min('seq').as('seq'))
    .where('webhook_id', '=', webhook_id)
    .where('subject', '=', subject)
    .where('due_at', 'is not', null)
  await tx
    .updateTable('webhook_deliveries')
    .set({ due_at: now })
    .where('seq', '=', next)
    .where('due_at', '>', now)
    // One that was tried already waits for its own next attempt, unless it is sent again on request.
    .where('first_at', 'is', null)
    .execute()
}

/** Up to `count` deliveries of a webhook after one, in the order of events. */
export const listAfter = (tx: Tx, webhookId: string, seq: number, count: number): Promise<DeliveryRow[]> =>
  tx
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(count)
    .execute()

/** Removes what deliveries said; one that still waits is made again, without what was erased since. */
export async function emptyDeliveries(tx: Tx, rows: readonly Pick<DeliveryRow, 'seq'>[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .updateTable('webhook_deliveries')
    .set({ body: null, body_maker: null, detail: null, request: null, response: null })
    .where(
      'seq',
      'in',
      rows.map(({ seq }) => seq),
    )
    .execute()
}
