import { limits } from '@keyward/contract'
import { type Insertable, sql } from 'kysely'
import { day } from '../../core/clock.ts'
import { type Db, prepared, type Tx } from '../../db/index.ts'
import type { ShopEventRow, Tables } from '../../db/tables.ts'

// Events are found by their shop or their order, which the caller has found within its scope.

/** False for an event that is stored already. */
export async function insertEvent(tx: Tx, row: Insertable<Tables['shop_events']>): Promise<boolean> {
  const stored = await tx
    .insertInto('shop_events')
    .values(row)
    .onConflict((conflict) => conflict.columns(['shop_id', 'event_id']).doNothing())
    .returning('seq')
    .executeTakeFirst()
  return stored !== undefined
}

export const hasDue = prepared((db, values: { now: number }) =>
  db.selectFrom('shop_events').select('seq').where('due_at', '<=', values.now).limit(1),
)

/** Claims the oldest due events of a lane until `until`; another node may have claimed some of them meanwhile. */
export const claim = (
  tx: Tx,
  lane: string,
  { now, until, count }: { now: number; until: number; count: number },
): Promise<ShopEventRow[]> =>
  tx
    .updateTable('shop_events')
    .set({ due_at: until, attempts: sql`attempts + 1` })
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('shop_events')
        .select('seq')
        .where('lane', '=', lane)
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(count),
    )
    .where('due_at', '<=', now)
    .returningAll()
    .execute()

/** The event as it is now: its lease may have ended, and another node may have used it. */
export const findEvent = (tx: Db, seq: number): Promise<ShopEventRow | undefined> =>
  tx.selectFrom('shop_events').selectAll().where('seq', '=', seq).executeTakeFirst()

/** What an event has told of its order; null until it is read. */
export type StoredFact = Pick<ShopEventRow, 'event_id' | 'fact'>

/** What was told of an order, and by which events. */
export const listFacts = (tx: Tx, orderId: string): Promise<StoredFact[]> =>
  tx
    .selectFrom('shop_events')
    .select(['event_id', 'fact'])
    .where('order_id', '=', orderId)
    .orderBy('seq')
    .limit(limits.orderEventsMax)
    .execute()

/** Stores what an event says about its order, unless its buyer was erased from it meanwhile; returns what is stored. */
export const setFact = (
  tx: Tx,
  seq: number,
  { orderId, fact, isErased }: { orderId: string; fact: string; isErased: boolean },
): Promise<StoredFact> =>
  tx
    .updateTable('shop_events')
    .set({ order_id: orderId, fact: sql`coalesce(fact, ${fact})`, ...(isErased ? { body: null } : {}) })
    .where('seq', '=', seq)
    .returning(['event_id', 'fact'])
    .executeTakeFirstOrThrow()

/** Up to `count` events of a shop after one that wait and were not read yet. */
export const listUnread = (
  tx: Tx,
  shopId: string,
  { after, count }: { after: number; count: number },
): Promise<Pick<ShopEventRow, 'seq' | 'body' | 'sent_at'>[]> =>
  tx
    .selectFrom('shop_events')
    .select(['seq', 'body', 'sent_at'])
    .where('shop_id', '=', shopId)
    .where('state', '=', 'waiting')
    .where('fact', 'is', null)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(count)
    .execute()

/** Replaces the body of an event that was not read yet by what it says. */
export async function replaceBody(tx: Tx, seq: number, fact: string): Promise<void> {
  await tx
    .updateTable('shop_events')
    .set({ fact, body: null })
    .where('seq', '=', seq)
    .where('fact', 'is', null)
    .execute()
}

/** When the body of an event is erased that is used now. */
export const bodyUntil = (now: number): number => now + limits.shopEventDays * day

/** Ends an event that says nothing about an order. */
export async function ignoreEvent(tx: Tx, seq: number, now: number): Promise<void> {
  await tx
    .updateTable('shop_events')
    .set({ state: 'ignored', due_at: null, body_until: bodyUntil(now) })
    .where('seq', '=', seq)
    .execute()
}

/** Ends all events of an order that waited. */
export async function endEventsOf(tx: Tx, orderId: string, now: number): Promise<void> {
  await tx
    .updateTable('shop_events')
    .set({ state: 'done', due_at: null, body_until: bodyUntil(now) })
    .where('order_id', '=', orderId)
    .where('state', '=', 'waiting')
    // Others are read back first.
    .where('fact', 'is not', null)
    .execute()
}

/** Lets an event wait for its next attempt, and ends the others of its order: one attempt looks at all of them. */
export async function postpone(
  tx: Tx,
  { seq, orderId }: { seq: number; orderId: string },
  { now, dueAt }: { now: number; dueAt: number | null },
): Promise<void> {
  await tx
    .updateTable('shop_events')
    .set({ state: 'done', due_at: null, body_until: bodyUntil(now) })
    .where('order_id', '=', orderId)
    .where('state', '=', 'waiting')
    // Others are read back first.
    .where('fact', 'is not', null)
    .where('seq', '<>', seq)
    .execute()
  await delay(tx, seq, dueAt)
}

/** Lets an event wait that could not be read back, with the order that it seems to be about. */
export async function linkUnread(
  tx: Tx,
  seq: number,
  { orderId, dueAt }: { orderId: string; dueAt: number | null },
): Promise<void> {
  await tx
    .updateTable('shop_events')
    .set({ order_id: orderId, due_at: dueAt })
    .where('seq', '=', seq)
    .execute()
}

/** Lets an event wait until then, or until its shop is resumed. */
export async function delay(tx: Tx, seq: number, dueAt: number | null): Promise<void> {
  await tx.updateTable('shop_events').set({ due_at: dueAt }).where('seq', '=', seq).execute()
}

/** Makes the events of an order due that wait for it. */
export async function wakeEventsOf(tx: Tx, orderId: string, now: number): Promise<void> {
  await tx
    .updateTable('shop_events')
    .set({ due_at: now })
    .where('order_id', '=', orderId)
    .where('state', '=', 'waiting')
    .where('due_at', 'is not', null)
    .execute()
}

/** Makes up to `count` waiting events of a shop due, or never due with null; returns how many were not. */
export async function setDueOfShop(
  tx: Tx,
  shopId: string,
  { dueAt, count }: { dueAt: number | null; count: number },
): Promise<number> {
  const rows = await tx
    .updateTable('shop_events')
    .set({ due_at: dueAt })
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('shop_events')
        .select('seq')
        .where('shop_id', '=', shopId)
        .where('state', '=', 'waiting')
        .where((on) =>
          dueAt === null
            ? on('due_at', 'is not', null)
            : on.or([on('due_at', 'is', null), on('due_at', '>', dueAt)]),
        )
        .limit(count),
    )
    .returning('seq')
    .execute()
  return rows.length
}

/** Erases up to `count` bodies that were used long enough ago, with all of an event that says nothing; returns how many. */
export async function eraseBodies(tx: Tx, now: number, count: number): Promise<number> {
  const some = (db: Db) =>
    db
      .selectFrom('shop_events')
      .select('seq')
      .where('body_until', '<=', now)
      .orderBy('body_until')
      .limit(count)
  const erased = await tx
    .updateTable('shop_events')
    .set({ body: null, body_until: null })
    .where('seq', 'in', some(tx))
    .where('state', '=', 'done')
    .returning('seq')
    .execute()
  const deleted = await tx
    .deleteFrom('shop_events')
    .where('seq', 'in', some(tx))
    .where('state', '=', 'ignored')
    .returning('seq')
    .execute()
  return erased.length + deleted.length
}
