import { expect } from 'vitest'
import { minute } from '../src/core/clock.ts'
import type { TestServer } from './harness.ts'

type Rows = Record<string, { n: number; amount: number }>

const collect = (rows: Iterable<readonly [unknown[], { n: number; amount: number }]>): Rows => {
  const sums = new Map<string, { n: number; amount: number }>()
  for (const [key, { n, amount }] of rows) {
    const sum = sums.get(key.join(' ')) ?? { n: 0, amount: 0 }
    sums.set(key.join(' '), { n: sum.n + n, amount: sum.amount + amount })
  }
  return Object.fromEntries([...sums].filter(([, { n, amount }]) => n !== 0 || amount !== 0).sort())
}

/** Expects the sums of an app to be those of what its orders are counted as; returns these of each shop. */
export async function expectSums(on: TestServer, appId: string): Promise<Record<string, Rows>> {
  const { db } = on.database
  const entries = await db.selectFrom('sale_entries').selectAll().where('app_id', '=', appId).execute()
  const sums = await db.selectFrom('sales').selectAll().where('app_id', '=', appId).execute()
  const stored = collect(
    sums.map(({ app_id: _, minutes, at, currency, shop_id, product, kind, n, amount }) => [
      [minutes, at, currency, shop_id, product, kind],
      { n: Number(n), amount: Number(amount) },
    ]),
  )
  const counted = collect(
    entries.flatMap(({ at, currency, shop_id, product, kind, amount }) =>
      [15, 60, 1440].map((minutes) => {
        const start = Math.floor(at / (minutes * minute)) * minutes * minute
        const group = minutes === 60 ? ['', ''] : [shop_id, product]
        return [
          [minutes, start, currency, ...group, kind],
          { n: amount < 0 ? -1 : 1, amount: Number(amount) },
        ] as const
      }),
    ),
  )
  expect(stored).toEqual(counted)
  const shops = Map.groupBy(entries, ({ shop_id }) => shop_id)
  return Object.fromEntries(
    [...shops].map(([shop, own]) => [
      shop,
      collect(
        own.map(({ at, currency, product, kind, amount }) => [
          [at, currency, product, kind],
          { n: amount < 0 ? -1 : 1, amount: Number(amount) },
        ]),
      ),
    ]),
  )
}
