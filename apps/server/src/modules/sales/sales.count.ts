import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { minute } from '../../core/clock.ts'
import { prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { Tables } from '../../db/tables.ts'

/** What an order was counted as once. */
export type SaleEntry = Pick<Tables['sale_entries'], 'kind' | 'at' | 'currency' | 'product' | 'amount'>
type Order = { id: string; app_id: string; shop_id: string }
type Sum = Tables['sales']

/** Each entry is in a sum of its quarter of an hour and one of its day, and in one of its hour for all shops and products. */
export const spans = { quarter: 15, hour: 60, day: 1440 } as const

/**
 * Counts an order as these entries, in place of what it was counted as before. The caller has locked the order. A trial that
 * has bought stays counted.
 */
export async function countOrder(
  write: WriteTransaction,
  order: Order,
  entries: readonly SaleEntry[],
  { isNew = false } = {},
): Promise<void> {
  const { tx } = write
  const before = isNew ? [] : await listEntries(tx, order.id)
  const kept = before.filter(({ kind }) => kind === 'trial')
  const trial = kept.length > 0 || isNew ? undefined : await trialOf(tx, order.id)
  const sold = entries.find(({ kind }) => kind === 'new')
  const after = [...entries, ...(sold && trial !== undefined ? [asTrial(sold, trial)] : kept)]
  await replace(write, order, { before, after, isNew })
}

/** Notes that the end user of a trial has redeemed the license of an order. */
export async function countTrial(write: WriteTransaction, licenseId: string): Promise<void> {
  const { tx, now } = write
  const order = await tx
    .selectFrom('shop_order_units as u')
    .innerJoin('shop_orders as o', 'o.id', 'u.order_id')
    .select(['o.id', 'o.app_id', 'o.shop_id'])
    .where('u.license_id', '=', licenseId)
    .executeTakeFirst()
  if (!order) return
  const before = await listEntries(tx, order.id)
  const sold = before.find(({ kind }) => kind === 'new')
  if (!sold || before.some(({ kind }) => kind === 'trial')) return
  await replace(write, order, { before, after: [...before, asTrial(sold, now)] })
}

const asTrial = (sold: SaleEntry, at: number): SaleEntry => ({ ...sold, kind: 'trial', at })

const listEntries = (tx: Tx, orderId: string): Promise<SaleEntry[]> =>
  tx
    .selectFrom('sale_entries')
    .select(['kind', 'at', 'currency', 'product', 'amount'])
    .where('order_id', '=', orderId)
    .orderBy('place')
    .execute()

/** When the end user of a trial redeemed a license of the order; undefined if none did. */
async function trialOf(tx: Tx, orderId: string): Promise<number | undefined> {
  const row = await tx
    .selectFrom('shop_order_units as u')
    .innerJoin('licenses as l', 'l.id', 'u.license_id')
    .innerJoin('clients as c', 'c.id', 'l.client_id')
    .innerJoin('licenses as t', 't.id', 'c.license_id')
    .select((eb) => eb.fn.min<number | null>('l.used_at').as('at'))
    .where('u.order_id', '=', orderId)
    .where('t.trial', '=', 1)
    .whereRef('t.id', '<>', 'l.id')
    .executeTakeFirst()
  return row?.at === null || row === undefined ? undefined : Number(row.at)
}

async function replace(
  write: WriteTransaction,
  order: Order,
  {
    before,
    after,
    isNew = false,
  }: { before: readonly SaleEntry[]; after: readonly SaleEntry[]; isNew?: boolean },
): Promise<void> {
  const { tx } = write
  if (isDeepStrictEqual(before.map(plain), after.map(plain))) return
  if (before.length > 0) await tx.deleteFrom('sale_entries').where('order_id', '=', order.id).execute()
  const { id: order_id, app_id, shop_id } = order
  const rows = after.map((entry, place) => ({ order_id, place, app_id, shop_id, ...entry }))
  const entries = rows.length > 0 ? [prepared.insert(tx, 'sale_entries', rows)] : []
  // What is there already may be counted again in the same transaction.
  if (!isNew) for (const entry of entries) await entry.execute()
  const sums = changesOf(order, before, after)
  if (sums.length === 0) return
  // Last, because all orders of a day lock the same rows.
  write.last([...(isNew ? entries : []), ...sums.map((sum) => addSum.with(tx, sum))])
}

const plain = ({ kind, at, currency, product, amount }: SaleEntry) => [
  ...[kind, Number(at), currency, product, Number(amount)],
]

/** The sums that change, sorted: two transactions lock them in the same order. */
function changesOf(
  { app_id, shop_id }: Order,
  before: readonly SaleEntry[],
  after: readonly SaleEntry[],
): Sum[] {
  const sums = new Map<string, Sum>()
  const add = ({ kind, at, currency, product, amount }: SaleEntry, sign: 1 | -1) => {
    for (const minutes of Object.values(spans)) {
      const isWhole = minutes === spans.hour
      const start = Math.floor(Number(at) / (minutes * minute)) * minutes * minute
      const key = {
        ...{ app_id, minutes, at: start, currency, kind },
        shop_id: isWhole ? '' : shop_id,
        product: isWhole ? '' : product,
      }
      const name = JSON.stringify(Object.values(key))
      const sum = sums.get(name) ?? { ...key, n: 0, amount: 0 }
      sum.n += sign * (Number(amount) < 0 ? -1 : 1)
      sum.amount += sign * Number(amount)
      sums.set(name, sum)
    }
  }
  for (const entry of before) add(entry, -1)
  for (const entry of after) add(entry, 1)
  return [...sums]
    .filter(([, { n, amount }]) => n !== 0 || amount !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, sum]) => sum)
}

const addSum = prepared((db, row: Sum) =>
  db
    .insertInto('sales')
    .values({
      ...{ app_id: row.app_id, minutes: row.minutes, at: row.at, currency: row.currency },
      ...{ shop_id: row.shop_id, product: row.product, kind: row.kind, n: row.n, amount: row.amount },
    })
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'minutes', 'at', 'currency', 'shop_id', 'product', 'kind'])
        .doUpdateSet(() => ({
          n: sql<number>`sales.n + excluded.n`,
          amount: sql<number>`sales.amount + excluded.amount`,
        })),
    ),
)
