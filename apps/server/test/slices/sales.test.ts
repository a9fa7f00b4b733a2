import { randomUUID } from 'node:crypto'
import { rolePermissions } from '@keyward/contract'
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { countEarlier } from '../../src/modules/shops/orders.sales.ts'
import { makeApp, makePremium, type Owner, refusal, registerUser, signUp } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import { expectSums } from '../sale-sums.ts'
import { allUsed, makeShop, makeType, ordersOf, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

const on = serverForAll()

/** A vendor with two shops that sell `pro` and `plus`. */
async function newVendor() {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner, 'Atlas')
  const type = await makeType(owner, app._id)
  const products = ['pro', 'plus'].map((product) => ({ product, type }))
  const shops = [await makeShop(owner, app._id, products), await makeShop(owner, app._id, products)] as const
  const tell = async (event: { type: string; data: object; timestamp: string }, shop = shops[0]) => {
    expect(await sell(on, shop, event)).toBe(200)
    await allUsed(on, shop._id)
  }
  return {
    ...{ owner, app, shops, type, tell },
    buy: (order: string, timestamp: string, wanted: object = {}, shop = shops[0]) =>
      tell({ ...paid(order, { amount: 1000, currency: 'EUR', ...wanted }), timestamp }, shop),
  }
}

const salesOf = async ({ call }: Pick<Owner, 'call'>, query: object) => {
  const answer = await call('GET', `/sales?${new URLSearchParams({ ...query })}`)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.json))
  return answer.json.data
}

const none = {
  ...{ orders: 0, renewals: 0, revenue: 0, newRevenue: 0, renewedRevenue: 0, unpriced: 0 },
  ...{ refunds: 0, refunded: 0, disputes: 0, disputed: 0, disputesWon: 0, recovered: 0, trials: 0 },
}

test('sales are counted by currency, product, shop and day of the time zone, and refunds on their own day', async () => {
  const { owner, app, shops, tell, buy } = await newVendor()
  await buy('S-1', '2026-03-27T23:30:00Z')
  await buy('S-2', '2026-03-28T12:00:00Z', { lines: [{ product: 'plus', quantity: 2 }], amount: 2500 })
  await buy('S-3', '2026-03-29T22:10:00Z', { currency: 'usd', amount: 700 }, shops[1])
  const both = ['pro', 'plus'].map((product) => ({ product, quantity: 1 }))
  await buy('S-4', '2026-03-29T10:00:00Z', { lines: both, amount: 4000 }, shops[1])
  await buy('S-5', '2026-03-29T10:00:00Z', { test: true })
  // A late event, and one before its order.
  const refund = { order: 'S-1', amount: 400 }
  await tell({ type: 'order.refunded', timestamp: '2026-03-31T21:59:00Z', data: refund })
  await tell({ type: 'order.disputed', timestamp: '2026-03-30T08:00:00Z', data: { order: 'S-2' } })
  await tell({ type: 'order.dispute_won', timestamp: '2026-04-02T08:00:00Z', data: { order: 'S-2' } })
  await expectSums(on, app._id)

  const range = { from: '2026-03-28', to: '2026-04-01' }
  const berlin = await salesOf(owner, { ...range, timeZone: 'Europe/Berlin' })
  const eur = { ...none, currency: 'EUR' }
  const usd = { ...none, currency: 'USD' }
  expect(berlin.counting).toBe(false)
  expect(berlin.currencies).toEqual([
    {
      ...{ ...eur, orders: 3, revenue: 7500, newRevenue: 7500, refunds: 1, refunded: 400 },
      ...{ disputes: 1, disputed: 2500 },
    },
    { ...usd, orders: 1, revenue: 700, newRevenue: 700 },
  ])
  expect(berlin.products).toEqual([
    { ...eur, product: null, orders: 1, revenue: 4000, newRevenue: 4000 },
    {
      ...{ ...eur, product: 'plus', orders: 1, revenue: 2500, newRevenue: 2500 },
      ...{ disputes: 1, disputed: 2500 },
    },
    { ...eur, product: 'pro', orders: 1, revenue: 1000, newRevenue: 1000, refunds: 1, refunded: 400 },
    { ...usd, product: 'pro', orders: 1, revenue: 700, newRevenue: 700 },
  ])
  const [first, second] = shops.map(({ _id }) => ({ _id, name: 'My shop', kind: 'custom', deleted: false }))
  expect(berlin.shops).toMatchObject([
    { shop: second, currency: 'EUR', orders: 1, revenue: 4000 },
    { shop: first, currency: 'EUR', orders: 2, revenue: 3500, refunded: 400 },
    { shop: second, currency: 'USD', orders: 1, revenue: 700 },
  ])
  const shown = (days: { date: string; currencies: Record<string, unknown>[] }[]) =>
    days.map(({ date, currencies }) => [
      date,
      ...currencies.map(({ currency, orders, revenue, refunded }) => [currency, orders, revenue, refunded]),
    ])
  // S-3 is at ten past midnight, and the refund a minute before: summer has begun.
  expect(shown(berlin.days)).toEqual([
    ['2026-03-28', ['EUR', 2, 3500, 0]],
    ['2026-03-29', ['EUR', 1, 4000, 0]],
    ['2026-03-30', ['EUR', 0, 0, 0], ['USD', 1, 700, 0]],
    ['2026-03-31', ['EUR', 0, 0, 400]],
    ['2026-04-01'],
  ])
  // A quarter to six hours before UTC, a day begins at 18:15.
  const nepal = await salesOf(owner, { ...range, timeZone: 'Asia/Kathmandu' })
  expect(shown(nepal.days)).toEqual([
    ['2026-03-28', ['EUR', 2, 3500, 0]],
    ['2026-03-29', ['EUR', 1, 4000, 0]],
    ['2026-03-30', ['EUR', 0, 0, 0], ['USD', 1, 700, 0]],
    ['2026-03-31'],
    ['2026-04-01', ['EUR', 0, 0, 400]],
  ])
  expect(nepal.currencies).toEqual(berlin.currencies)
  // In UTC the first one is of the day before.
  const utc = await salesOf(owner, range)
  expect(utc.currencies[0]).toMatchObject({ orders: 2, revenue: 6500 })

  // Each number opens its orders.
  const zone = 'timeZone=Europe/Berlin'
  const listed = async (query: string) => {
    const { orders, totals } = (await owner.call('GET', `/orders?${query}`)).json.data
    return [orders.map(({ order }: { order: string }) => order).toSorted(), totals]
  }
  const sum = { currency: 'EUR', orders: 0, revenue: 0, refunds: 0, refunded: 0 }
  expect(await listed(`sale=new&currency=EUR&from=${range.from}&to=${range.to}&${zone}`)).toEqual([
    ['S-1', 'S-2', 'S-4'],
    [{ ...sum, orders: 3, revenue: 7500 }],
  ])
  expect(await listed(`from=2026-03-31&to=2026-03-31&${zone}`)).toEqual([
    ['S-1'],
    [{ ...sum, refunds: 1, refunded: 400 }],
  ])
  expect(await listed(`product=&shop=${shops[1]._id}&from=${range.from}`)).toEqual([
    ['S-4'],
    [{ ...sum, orders: 1, revenue: 4000 }],
  ])
  expect(await listed('sale=disputed')).toEqual([['S-2'], []])
  expect((await listed(`app=${app._id}`))[1]).toEqual([
    { ...sum, orders: 3, revenue: 7500, refunds: 1, refunded: 400 },
    { ...sum, currency: 'USD', orders: 1, revenue: 700 },
  ])
  expect((await listed('sale=new&from=2026-04-01&to=2026-04-01'))[0]).toEqual([])

  const file = await owner.call('GET', `/sales/export?from=2026-03-28&to=2026-04-01&${zone}`)
  const lines = file.raw.toString().trim().split(/\r?\n/)
  expect(lines[0]).toMatch(/^date,currency,shop,shopId,product,orders,renewals,revenue,/)
  expect(lines).toHaveLength(7)
  expect(
    lines.filter((line) => line.startsWith(`2026-03-31,EUR,My shop,${shops[0]._id},pro,0,0,0,`)),
  ).toHaveLength(1)

  // Its orders stay, so their sums do.
  await owner.call('DELETE', `/shops/${shops[1]._id}`)
  const after = await salesOf(owner, { ...range, timeZone: 'Europe/Berlin', app: app.appId })
  expect(after.currencies).toEqual(berlin.currencies)
  expect(after.shops[0].shop).toMatchObject({ _id: shops[1]._id, deleted: true })
  await owner.call('DELETE', `/apps/${app._id}`)
  expect((await salesOf(owner, range)).currencies).toEqual([])
})

test('subscriptions are counted as new and renewed, and by what they will pay next', async () => {
  const { owner, app, tell, buy } = await newVendor()
  const begin = on.clock.now()
  const at = (days: number) => new Date(begin + days * day).toISOString()
  const order = `sub-${randomUUID()}`
  const renew = (days: number, more: object) =>
    tell({ type: 'subscription.renewed', timestamp: at(days), data: { order, ...more } })
  const range = { from: at(-100).slice(0, 10), to: at(1).slice(0, 10) }
  await renew(-30, { until: at(0), payment: 'p2', amount: 900, currency: 'EUR' })
  expect((await salesOf(owner, range)).currencies).toEqual([])
  await buy(order, at(-60), { payment: 'p1' })
  await renew(-60, { until: at(-30), payment: 'p1' })
  await renew(0, { until: at(20), payment: 'p3' })
  const sums = async () => (await salesOf(owner, { ...range, app: app._id })).currencies
  expect(await sums()).toEqual([
    {
      ...{ ...none, currency: 'EUR', orders: 1, renewals: 2, revenue: 1900 },
      ...{ newRevenue: 1000, renewedRevenue: 900, unpriced: 1 },
    },
  ])
  const due = async () => (await salesOf(owner, range)).renewalsDue.currencies
  expect(await due()).toEqual([{ currency: 'EUR', orders: 1, amount: 900 }])
  expect(
    (await ordersOf(owner, `sale=due&from=${at(20).slice(0, 10)}&to=${at(20).slice(0, 10)}`))[0].order,
  ).toBe(order)
  // What is told last does not have to be the last that happened.
  const refund = (data: object, days: number) =>
    tell({ type: 'order.refunded', timestamp: at(days), data: { order, ...data } })
  await refund({ payment: 'p2', amount: 600 }, -2)
  await refund({ payment: 'p2', amount: 600 }, -1)
  expect((await sums())[0]).toMatchObject({ refunds: 2, refunded: 900 })
  expect(await due()).toEqual([{ currency: 'EUR', orders: 1, amount: 1000 }])
  await tell({ type: 'subscription.ended', timestamp: at(0.5), data: { order } })
  expect(await due()).toEqual([])
  await expectSums(on, app._id)
})

test('a trial that bought is counted when it redeems the key, and orders of earlier versions are once the server starts', async () => {
  const { owner, app, buy, shops } = await newVendor()
  const { license, user } = await registerUser(on, owner, app, 'ada')
  await on.database.db.updateTable('licenses').set({ trial: 1 }).where('id', '=', license._id).execute()
  await buy('T-1', new Date(on.clock.now()).toISOString())
  const [order] = await ordersOf(owner, `shop=${shops[0]._id}`)
  const added = await owner.call('POST', `/clients/${user._id}/licenses`, {
    license: order.licenses[0]._id,
  })
  expect(added.status).toBe(200)
  const today = new Date(on.clock.now()).toISOString().slice(0, 10)
  const range = { from: today, to: today }
  const expected = await salesOf(owner, range)
  expect(expected.currencies).toMatchObject([{ orders: 1, revenue: 1000, trials: 1 }])
  expect((await ordersOf(owner, 'sale=trial'))[0].order).toBe('T-1')

  const { db } = on.database
  await db.deleteFrom('sale_entries').where('app_id', '=', app._id).execute()
  await db.deleteFrom('sales').where('app_id', '=', app._id).execute()
  await db.updateTable('shop_orders').set({ counted: 0 }).where('app_id', '=', app._id).execute()
  expect(await salesOf(owner, range)).toMatchObject({ counting: true, currencies: [] })
  await countEarlier(ctxOf(on), () => false)
  expect(await salesOf(owner, range)).toEqual(expected)
  await expectSums(on, app._id)
})

test('a range has its bounds, and only roles with sales:read see what was sold', async () => {
  const { owner } = await newVendor()
  const ask = (query: string) => owner.call('GET', `/sales?${query}`)
  for (const query of [
    'from=2026-01-02&to=2026-01-01',
    'from=2024-01-01&to=2026-01-02',
    'from=2026-01-01&to=2026-01-01&timeZone=Europe/Atlantis',
    'from=2026-01-01&to=2026-01-01&timeZone=%2B02:00',
    'from=2026-01-01',
  ])
    expect(refusal(await ask(query))).toBe('invalid_input')
  expect((await ask('from=2024-01-01&to=2026-01-01')).status).toBe(200)
  const roles = Object.entries(rolePermissions).filter(([, all]) => all.includes('sales:read'))
  expect(roles.map(([role]) => role)).toEqual(['owner', 'manager', 'viewer'])
})
