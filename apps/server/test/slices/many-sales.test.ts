// On PostgreSQL in the full run: sales sends the same statements there.
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { day, minute } from '../../src/core/clock.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { isFull, rounds } from '../rounds.ts'
import { makeShop } from '../shop-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const count = rounds(8_000, 1_000_000)
const begin = Date.parse('2025-01-01')
const step = Math.floor((365 * day) / count)
const currencies = ['EUR', 'USD', 'GBP']

/** Orders of a year, evenly, of five products in three currencies, as they would have been counted one by one. */
async function sellMany() {
  const { db } = on.database
  const shop = await makeShop(owner, app._id)
  const numbers = sql`with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${sql.lit(count - 1)})`
  const at = sql`${sql.lit(begin)} + cast(n as bigint) * ${sql.lit(step)}`
  await sql`insert into shop_orders (id, owner_id, app_id, shop_id, number, amount, state, counted, created_at)
    ${numbers} select 'sor_' || n, ${owner.id}, ${app._id}, ${shop._id}, 'M-' || n, 1000, 'fulfilled', 1, ${at}
    from numbers`.execute(db)
  await sql`insert into sale_entries (order_id, place, app_id, shop_id, kind, at, currency, product, amount)
    ${numbers} select 'sor_' || n, 0, ${app._id}, ${shop._id}, case n % 4 when 0 then 'renewed' else 'new' end, ${at},
      case n % 3 when 0 then 'EUR' when 1 then 'USD' else 'GBP' end, 'p' || (n % 5), 1000
    from numbers`.execute(db)
  for (const minutes of [15, 60, 1440]) {
    const ms = sql.lit(minutes * minute)
    const group = minutes === 60 ? sql`'', ''` : sql`shop_id, product`
    await sql`insert into sales (app_id, minutes, at, currency, kind, shop_id, product, n, amount)
      select app_id, ${sql.lit(minutes)}, (at / ${ms}) * ${ms}, currency, kind, ${group}, count(*), sum(amount)
      from sale_entries group by app_id, 3, currency, kind, 6, 7`.execute(db)
  }
}

/** The shortest time of several reads, in milliseconds. */
async function shortest(path: string): Promise<number> {
  const times: number[] = []
  for (let at = 0; at < 15; at += 1) {
    const begun = performance.now()
    await owner.call('GET', path)
    times.push(performance.now() - begun)
  }
  return Math.min(...times)
}

test('a year of sales is read from its sums, in any time zone', async () => {
  await sellMany()
  // What the database does by itself after so many rows.
  await sql
    .raw(process.env.TEST_DATABASE === 'postgres' ? 'vacuum analyze' : 'analyze')
    .execute(on.database.db)
  for (const timeZone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata']) {
    const path = `/sales?from=2025-01-02&to=2025-12-30&timeZone=${timeZone}`
    const { currencies: totals, days, products } = (await owner.call('GET', path)).json.data
    const sum = (rows: { orders: number; renewals: number }[]) =>
      rows.reduce((total, { orders, renewals }) => total + orders + renewals, 0)
    expect(totals.map(({ currency }: { currency: string }) => currency).toSorted()).toEqual(
      currencies.toSorted(),
    )
    expect(products).toHaveLength(15)
    expect(days).toHaveLength(363)
    expect(sum(days.flatMap((one: { currencies: [] }) => one.currencies))).toBe(sum(totals))
    expect(Math.abs(sum(totals) - (count * 363) / 365)).toBeLessThan(count / 365)
    // A scan of all orders would take a hundred times as long as a month.
    const month = `/sales?from=2025-12-01&to=2025-12-30&timeZone=${timeZone}`
    if (isFull) expect((await shortest(path)) / (await shortest(month))).toBeLessThan(20)
  }
})

test('the orders behind a number are found among many, the latest first', async () => {
  for (const query of ['sale=new', 'from=2025-03-01&to=2025-09-30', 'sale=renewed&currency=EUR&product=p2']) {
    const path = `/orders?${query}&limit=50`
    const read = async (page: number) => (await owner.call('GET', `${path}&page=${page}`)).json.data
    const { orders, pagination, totals } = await read(1)
    const next = (await read(2)).orders
    const numbers = [...orders, ...next].map(({ order }: { order: string }) => Number(order.slice(2)))
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a))
    expect(new Set(numbers).size).toBe(100)
    expect(pagination.total).toBeGreaterThan(100)
    expect(totals === null).toBe(pagination.capped === true)
    // A scan of all orders would take some hundred times as long as the list of all.
    if (isFull) expect((await shortest(path)) / (await shortest('/orders?limit=50'))).toBeLessThan(100)
  }
})

test('a few orders of many renewals are all counted, those that renewed long ago too', async () => {
  const renew = (orders: number, from: number, entries: number, at: number) =>
    sql`insert into sale_entries (order_id, place, app_id, shop_id, kind, at, currency, product, amount)
      with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${sql.lit(entries - 1)})
      select 'sor_' || (${sql.lit(from)} + n % ${sql.lit(orders)}), n + 1, app_id, shop_id, 'renewed', ${sql.lit(at)} + n, 'CHF', 'p9', 10
      from numbers, (select app_id, shop_id from sale_entries limit 1) shops`.execute(on.database.db)
  await renew(30, 0, 20_100, begin + 300 * day)
  await renew(5, 100, 5, begin)
  const { json } = await owner.call('GET', '/orders?sale=renewed&currency=CHF')
  expect(json.data.pagination.total).toBe(35)
  expect(json.data.totals).toMatchObject([{ currency: 'CHF', revenue: 201_050 }])
})
