import { limits, type OrderReasonCode } from '@keyward/contract'
import { system } from '../../core/actor.ts'
import { hour, minute, second } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { ShopEventRow, ShopRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { DeliveryRunner, listLanes } from '../../service/delivery-runner.ts'
import { OutboundError } from '../../service/outbound/failures.ts'
import type { Outbound } from '../../service/outbound/outbound.ts'
import { wasErasedSince } from '../customers/erasures.access.ts'
import { actorOf } from './hooks.service.ts'
import type { OrderFact } from './orders.facts.ts'
import * as orders from './orders.repo.ts'
import { withoutBuyer, withPlainTexts } from './orders.rules.ts'
import { recordState, settleOrder } from './orders.settle.ts'
import { readBackOf } from './read-back.ts'
import { type AskedFact, ReadBackError } from './shop-adapter.ts'
import * as repo from './shop-events.repo.ts'
import { adapters } from './shops.adapters.ts'
import { holdShop } from './shops.repo.ts'

interface Parts {
  ctx: Ctx
  outbound: Outbound
  onError: (error: unknown) => void
  pollMs?: number | undefined
  leaseMs?: number | undefined
}

const usualLeaseMs = 45 * second
const pausesMs = [minute, 5 * minute, 15 * minute, hour]

/** Uses stored events, on any node, with turns for all vendors. */
export function createShopRunner(parts: Parts): DeliveryRunner<ShopEventRow> {
  const { ctx, onError, pollMs, leaseMs = usualLeaseMs } = parts
  const now = () => ctx.clock.now()
  return new DeliveryRunner<ShopEventRow>(
    {
      hasDue: async () => (await repo.hasDue.first(ctx.db, { now: now() })) !== undefined,
      listLanes: async (after, count) => {
        const { lanes, next } = await listLanes(ctx.db, 'shop_events', { after, count, now: now() })
        return { lanes: lanes.map(toLane), next }
      },
      claim: ({ id }, { count, leaseMs }) =>
        ctx.tx(system, ({ tx }) => repo.claim(tx, id, { now: now(), until: now() + leaseMs, count })),
      deliver: async (row) => {
        try {
          await useEvent(parts, row)
        } catch (error) {
          onError(error)
          // If this fails too, it waits until its lease ends, like an event whose process died.
          await noteFault(parts, row).catch(onError)
        }
        return undefined
      },
    },
    { clock: ctx.clock, onError, leaseMs, ...(pollMs === undefined ? {} : { pollMs }) },
  )
}

const toLane = (lane: string) => ({ id: lane, vendor: lane.split(' ')[0] ?? lane, receiver: lane })

/** What an event says; no fact if it says nothing about an order. */
type Read = { fact: OrderFact | undefined } | Failure

async function useEvent(parts: Parts, row: ShopEventRow): Promise<void> {
  const { ctx } = parts
  const actor = actorOf({ id: row.shop_id, owner_id: row.owner_id })
  const asked = await ctx.tx(actor, (write) => useOnce(write, ctx, row))
  if (!asked) return
  const read = await readBack(parts, asked)
  await ctx.tx(actor, (write) => useOnce(write, ctx, row, read))
}

/** What an event says has to be read back from its shop. */
interface Asked {
  shop: ShopRow
  told: AskedFact
}

/** Uses an event that still waits. Returns what is to be read back first, if anything. */
async function useOnce(
  write: WriteTransaction,
  ctx: Ctx,
  { seq, shop_id }: ShopEventRow,
  readBefore?: Read,
): Promise<Asked | undefined> {
  const shop = await holdShop(write.tx, shop_id)
  const event = await repo.findEvent(write.tx, seq)
  if (!shop || event?.state !== 'waiting') return undefined
  const read = readBefore ?? readStored(shop, event)
  if ('told' in read) return read
  await use(write, ctx, shop, event, read)
  return undefined

  function readStored(shop: ShopRow, { fact, body, sent_at }: ShopEventRow): Read | Asked {
    if (fact !== null) return { fact: JSON.parse(fact) }
    const told = adapters[shop.kind].read(body ?? '', sent_at)
    if (told && 'ask' in told) return { shop, told }
    return { fact: told && withPlainTexts(told) }
  }
}

async function use(
  write: WriteTransaction,
  ctx: Ctx,
  shop: ShopRow,
  event: ShopEventRow,
  read: Read,
): Promise<void> {
  const { tx, now } = write
  const { seq } = event
  const dueAt = dueAfter(shop, event, now)
  if ('failure' in read) return noteFailure(write, shop, { seq, dueAt, ...read })
  const { fact } = read
  if (!fact) return repo.ignoreEvent(tx, seq, now)
  const { order, isNew } = await lockOrderOf(write, shop, fact.order)
  let facts = isNew ? [] : await repo.listFacts(tx, order.id)
  // A test has its fact from the start, and no order yet.
  if (event.fact === null || event.order_id !== order.id) {
    if (facts.length >= limits.orderEventsMax) {
      const reason = `The shop has sent more than ${limits.orderEventsMax} events about this order`
      await orders.updateOrder(tx, order.id, { state: 'waiting', reason, reason_code: 'too_many_events' })
      return repo.delay(tx, seq, now + hour)
    }
    // A shop may tell again who bought.
    const isErased =
      facts.some((other) => other.fact !== null && (JSON.parse(other.fact) as OrderFact).erased === true) ||
      (await isOlderThanErasure(ctx, write, event, fact))
    const text = JSON.stringify(isErased ? withoutBuyer(fact) : fact)
    const told = await repo.setFact(tx, seq, { orderId: order.id, fact: text, isErased })
    facts = [...facts.filter((other) => other.event_id !== told.event_id), told]
    if (event.order_id !== null && event.order_id !== order.id) await orders.deleteEmpty(tx, event.order_id)
  }
  const need = await settleOrder(write, shop, order, { ctx, facts, isNew })
  if (!need?.isRetried) return repo.endEventsOf(tx, order.id, now)
  return repo.postpone(tx, { seq, orderId: order.id }, { now, dueAt })
}

/** Whether the buyer of an order was erased after it: a shop may tell of it later. */
async function isOlderThanErasure(
  { seal }: Ctx,
  { tx }: WriteTransaction,
  { owner_id: ownerId, received_at }: ShopEventRow,
  fact: OrderFact,
): Promise<boolean> {
  if (fact.kind !== 'paid' || !fact.email) return false
  const at = Math.min(fact.at, received_at)
  return wasErasedSince(tx, seal, { ownerId }, { email: fact.email, at })
}

interface Failure {
  failure: string
  code: OrderReasonCode
  order: string
}

/** Asks a shop for what an event says, outside of any transaction. */
async function readBack({ ctx, outbound, onError }: Parts, { shop, told }: Asked): Promise<Read> {
  try {
    const fact = await told.ask(readBackOf(ctx, outbound, shop))
    return { fact: fact && withPlainTexts(fact) }
  } catch (error) {
    const isKnown = error instanceof OutboundError || error instanceof ReadBackError
    if (!isKnown) onError(error)
    const why = isKnown ? error.message : 'It gave an unexpected answer.'
    return {
      failure: `The order could not be read from the shop. ${why}`,
      order: told.order,
      code: 'unreadable',
    }
  }
}

/** Shows the order of an event on which this server has failed, and tries the event again. */
async function noteFault(
  { ctx }: Parts,
  { seq, shop_id: id, owner_id: ownerId }: ShopEventRow,
): Promise<void> {
  await ctx.tx(actorOf({ id, owner_id: ownerId }), async (write) => {
    const shop = await holdShop(write.tx, id)
    const event = await repo.findEvent(write.tx, seq)
    if (!shop || event?.state !== 'waiting') return
    const dueAt = dueAfter(shop, event, write.now)
    const failure =
      'An event of this order could not be used. It is tried again; the log of the server says why it failed.'
    const order = orderOf(shop, event)
    if (order === undefined) return repo.delay(write.tx, seq, dueAt)
    await noteFailure(write, shop, { seq, dueAt, failure, code: 'event_failed', order })
  })
}

/** The order that an event names; undefined if it names none that can be read. */
function orderOf({ kind }: ShopRow, { fact, body, sent_at }: ShopEventRow): string | undefined {
  if (fact !== null) return (JSON.parse(fact) as OrderFact).order
  try {
    return adapters[kind].read(body ?? '', sent_at)?.order
  } catch {
    return undefined
  }
}

/** When an event is tried again; null for a paused shop. */
function dueAfter({ active }: ShopRow, { attempts }: ShopEventRow, now: number): number | null {
  const pauseMs = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 0
  return active === 1 ? now + pauseMs : null
}

/** Shows an order that could not be read back, and tries it again. */
async function noteFailure(
  write: WriteTransaction,
  shop: ShopRow,
  { seq, dueAt, failure, code, order: number }: Failure & { seq: number; dueAt: number | null },
): Promise<void> {
  const { order } = await lockOrderOf(write, shop, number)
  const waiting = { state: 'waiting', reason: failure } as const
  await orders.updateOrder(write.tx, order.id, { ...waiting, reason_code: code })
  recordState(write, order, waiting)
  await repo.linkUnread(write.tx, seq, { orderId: order.id, dueAt })
}

/** The order with a number, which may be told of for the first time; locked. */
async function lockOrderOf(write: WriteTransaction, shop: ShopRow, number: string) {
  const id = newId('sor')
  const order = await orders.lockOrderOf(write.tx, {
    id,
    owner_id: shop.owner_id,
    app_id: shop.app_id,
    shop_id: shop.id,
    number,
    // There is nothing to count yet.
    counted: 1,
    created_at: write.now,
  })
  const isNew = order.id === id
  if (isNew) write.record('shop_order.received', id, { order: number }, order.app_id)
  return { order, isNew }
}
