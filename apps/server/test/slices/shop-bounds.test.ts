// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { expect, test } from 'vitest'
import { hour, minute } from '../../src/core/clock.ts'
import { Attempts } from '../../src/service/attempts.ts'
import { WriteBudget } from '../../src/service/write-budget.ts'
import { makeApp, makePremium, type Owner, signUp } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { serverForAll } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import { allUsed, makeShop, makeType, orderOnce, ordersOf, sell } from '../shop-actor.ts'
import { paid, signedRequest } from '../shop-events.ts'

const failures: unknown[] = []
const on = serverForAll(
  { RATE_LIMITS: 'on' },
  {
    deliveriesEveryMs: 100,
    logLevel: 'error',
    log: { write: (line: string) => void (/"level":50/.test(line) && failures.push(line)) },
  },
)

async function newVendor() {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner)
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  return { owner, app, shop }
}
const shopOf = async (owner: Owner, app: { _id: string }) =>
  (await owner.call('GET', `/apps/${app._id}/shops`)).json.data.shops[0]
const eventsOf = (shopId: string) =>
  on.database.db.selectFrom('shop_events').selectAll().where('shop_id', '=', shopId).orderBy('seq').execute()

test('the 1,001st event of an order waits with its reason, and those of other orders do not', async () => {
  const { owner, app, shop } = await newVendor()
  const order = await sell(on, shop, paid('many')).then(() =>
    orderOnce(owner, 'many', { state: 'fulfilled' }),
  )
  const [told] = await eventsOf(shop._id)
  const { seq: _seq, ...row } = told!
  const more = Array.from({ length: limits.orderEventsMax - 1 }, (_, at) => ({
    ...row,
    ...{ event_id: `copy ${at}`, state: 'done' as const, due_at: null },
  }))
  for (let at = 0; at < more.length; at += 50) {
    await on.database.db
      .insertInto('shop_events')
      .values(more.slice(at, at + 50))
      .execute()
  }
  expect(await sell(on, shop, { type: 'order.refunded', data: { order: 'many' } })).toBe(200)
  await orderOnce(owner, 'many', {
    state: 'waiting',
    reason: 'The shop has sent more than 1000 events about this order',
  })
  // What it said is neither lost nor used.
  const last = (await eventsOf(shop._id)).at(-1)
  expect(last).toMatchObject({ state: 'waiting', order_id: null, body: expect.stringContaining('refunded') })
  expect(last?.due_at).toBeGreaterThan(on.clock.now() + hour - minute)
  expect((await shopOf(owner, app)).waiting).toBe(1)
  const { license } = (await owner.call('GET', `/licenses/${order.licenses[0]._id}`)).json.data
  expect(license.banned).toBe(false)
  await sell(on, shop, paid('other'))
  await orderOnce(owner, 'other', { state: 'fulfilled' })
})

test('a shop shows how many events wait while it is off', async () => {
  const { owner, app, shop } = await newVendor()
  await owner.call('PUT', `/shops/${shop._id}`, { active: false })
  for (const order of ['off-1', 'off-2', 'off-3']) await sell(on, shop, paid(order))
  expect(await shopOf(owner, app)).toMatchObject({ active: false, waiting: 3 })
  await owner.call('PUT', `/shops/${shop._id}`, { active: true })
  await orderOnce(owner, 'off-3', { state: 'fulfilled' })
  await allUsed(on, shop._id)
  expect(await shopOf(owner, app)).toMatchObject({ active: true, waiting: 0 })
})

test('an event on which the server fails shows in its order at once, and is tried again', async () => {
  const { owner, app, shop } = await newVendor()
  await owner.call('PUT', `/shops/${shop._id}`, { active: false })
  await sell(on, shop, paid('faulty'))
  const { db } = on.database
  // No fact of this kind is ever stored: the server cannot use it.
  const fact = JSON.stringify({ kind: 'paid', order: 'faulty', at: 0, lines: null })
  await db.updateTable('shop_events').set({ fact }).where('shop_id', '=', shop._id).execute()
  await owner.call('PUT', `/shops/${shop._id}`, { active: true })
  await orderOnce(owner, 'faulty', { state: 'waiting', reason: expect.stringContaining('tried again') })
  expect(failures.length).toBeGreaterThan(0)
  const [event] = await eventsOf(shop._id)
  expect(event).toMatchObject({ state: 'waiting' })
  expect(event?.due_at).toBeGreaterThan(on.clock.now())
  expect((await shopOf(owner, app)).waiting).toBe(1)
  await db.updateTable('shop_events').set({ fact: null }).where('shop_id', '=', shop._id).execute()
  on.clock.advance(2 * minute)
  await orderOnce(owner, 'faulty', { state: 'fulfilled', reason: null })
})

test('all shops of a vendor together store what an account may add in an hour; then they wait', async () => {
  const { owner, app, shop } = await newVendor()
  const second = await makeShop(owner, app._id)
  const other = await newVendor()
  const most = limits.recordBytesPerHour.premium
  const ctx = ctxOf(on)
  const attempts = new Attempts(ctx)
  const elsewhere = new WriteBudget({
    ...{ ctx, attempts, readBytesPerHour: async () => most },
    onError: (error) => {
      throw error
    },
  })
  // Another node has let the shops store nearly all bytes of their hour.
  elsewhere.add({ kind: 'shop', ownerId: owner.id, apps: null, shopId: shop._id }, most - 100_000)
  await elsewhere.ended()
  const padding = 'x'.repeat(60_000)
  const send = (to: typeof shop, order: string) => {
    const event = paid(order)
    const data = { ...event.data, padding }
    const request = signedRequest(to.secret, { ...event, data }, new Date(on.clock.now()))
    return on.server.inject({ method: 'POST', url: to.hook, ...request })
  }
  let accepted = 0
  const refused = await eventually(async () => {
    const answer = await send(accepted % 2 ? second : shop, `large-${accepted}`)
    if (answer.statusCode === 200) accepted += 1
    expect(answer.statusCode).toBe(429)
    return answer
  })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect(accepted).toBeLessThan(10)
  expect((await send(second, 'large-again')).statusCode).toBe(429)
  expect((await send(other.shop, 'large-other')).statusCode).toBe(200)
  // The vendor's own calls have a budget of their own.
  expect((await owner.call('PUT', `/shops/${shop._id}`, { name: 'Renamed' })).status).toBe(200)
  on.clock.advance(hour)
  expect((await send(shop, 'large-later')).statusCode).toBe(200)
  expect(await ordersOf(owner, 'search=large-again')).toEqual([])
})
