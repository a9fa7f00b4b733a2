import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { day, minute } from '../../core/clock.ts'
import { appInScope, type Db, foundInScope, inScope } from '../../db/index.ts'
import type { ShopRow, Tables } from '../../db/tables.ts'
import { spans } from './sales.count.ts'
import { type Days, runsOf, splitHours } from './sales.days.ts'

export interface SumFilter {
  scope: OwnerScope
  /** An app that the caller has checked. */
  appId: string | undefined
}

type Sum = Pick<Tables['sales'], 'currency' | 'kind' | 'n' | 'amount'>
export type GroupedSum = Sum & Pick<Tables['sales'], 'shop_id' | 'product'>
export type DailySum = Sum & { day: number }

const appsOf = ({ scope, appId }: SumFilter) =>
  sql`app_id in (select id from apps where ${appInScope(scope)} ${appId === undefined ? sql`` : sql`and id = ${appId}`})`

const rowsOf = (
  filter: SumFilter,
  columns: RawBuilder<unknown>,
  minutes: number,
  times: RawBuilder<unknown>,
) =>
  sql`select ${columns}, currency, kind, n, amount from sales
    where ${appsOf(filter)} and minutes = ${sql.lit(minutes)} and ${times}`

const within = (from: number, until: number) => sql`at >= ${sql.lit(from)} and at < ${sql.lit(until)}`

const toSum = <Row extends Sum>(row: Row): Row => ({ ...row, n: Number(row.n), amount: Number(row.amount) })

/** Sums by currency, shop, product and kind, between two quarters of an hour: of whole days of UTC, and of quarters beside them. */
export async function sumGroups(
  db: Db,
  filter: SumFilter,
  { from, until }: { from: number; until: number },
): Promise<GroupedSum[]> {
  const first = Math.ceil(from / day) * day
  const last = Math.max(first, Math.floor(until / day) * day)
  const columns = sql`shop_id, product`
  const quarters = (start: number, end: number) =>
    start < end ? [rowsOf(filter, columns, spans.quarter, within(start, end))] : []
  const parts =
    last > first
      ? [
          rowsOf(filter, columns, spans.day, within(first, last)),
          ...quarters(from, first),
          ...quarters(last, until),
        ]
      : quarters(from, until)
  const { rows } = await sql<GroupedSum>`
    select shop_id, product, currency, kind, sum(n) as n, sum(amount) as amount
    from (${sql.join(parts, sql` union all `)}) part
    group by shop_id, product, currency, kind`.execute(db)
  return rows.map(toSum)
}

/** The number of the day among those that are asked for. */
const dayOf = (days: Days) =>
  sql`case ${sql.join(
    runsOf(days).map(({ first, start, end }) => {
      const whole = (end - start) % day === 0
      const number = whole
        ? sql`(at - ${sql.lit(start)}) / ${sql.lit(day)} + ${sql.lit(first)}`
        : sql.lit(first)
      return sql`when at < ${sql.lit(end)} then ${number}`
    }),
    sql` `,
  )} end`

/** Sums by day, currency and kind: of whole hours, and of the quarters of those hours in which a day begins. */
export async function sumDays(db: Db, filter: SumFilter, days: Days): Promise<DailySum[]> {
  const { starts } = days
  const [from, until] = [starts[0] ?? 0, starts.at(-1) ?? 0]
  const split = splitHours(days)
  const quarters = split
    .flatMap((at) => [0, 1, 2, 3].map((quarter) => at + quarter * spans.quarter * minute))
    .filter((at) => at >= from && at < until)
  const listed = (all: readonly number[]) => sql.join(all.map((at) => sql.lit(at)))
  const but = split.length === 0 ? sql`` : sql` and at not in (${listed(split)})`
  const parts = [
    rowsOf(filter, sql`at`, spans.hour, sql`${within(from, until)}${but}`),
    ...(quarters.length > 0
      ? [rowsOf(filter, sql`at`, spans.quarter, sql`at in (${listed(quarters)})`)]
      : []),
  ]
  const { rows } = await sql<DailySum>`
    select day, currency, kind, sum(n) as n, sum(amount) as amount
    from (select ${dayOf(days)} as day, currency, kind, n, amount from (${sql.join(parts, sql` union all `)}) part) placed
    group by day, currency, kind`.execute(db)
  return rows.map((row) => ({ ...toSum(row), day: Number(row.day) }))
}

/** The same by shop and product as well, of quarters alone. */
export async function sumDaysByGroup(
  db: Db,
  filter: SumFilter,
  days: Days,
): Promise<(GroupedSum & { day: number })[]> {
  const { starts } = days
  const times = within(starts[0] ?? 0, starts.at(-1) ?? 0)
  const part = rowsOf(filter, sql`at, shop_id, product`, spans.quarter, times)
  const { rows } = await sql<GroupedSum & { day: number }>`
    select day, shop_id, product, currency, kind, sum(n) as n, sum(amount) as amount
    from (select ${dayOf(days)} as day, shop_id, product, currency, kind, n, amount from (${part}) part) placed
    group by day, shop_id, product, currency, kind
    order by day, currency, shop_id, product`.execute(db)
  return rows.map((row) => ({ ...toSum(row), day: Number(row.day) }))
}

/** The names of shops, of deleted ones too. */
export const listShops = (
  db: Db,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<Pick<ShopRow, 'id' | 'name' | 'kind' | 'deleted_at'>[]> =>
  db
    .selectFrom('shops as s')
    .select(['s.id', 's.name', 's.kind', 's.deleted_at'])
    .where('s.id', 'in', ids)
    .where(inScope(scope, 's'))
    .execute()

/** Whether orders of earlier versions are not counted yet; found by the index of all that are not. */
export async function hasUncounted(db: Db, { scope, appId }: SumFilter): Promise<boolean> {
  const orders = db.selectFrom('shop_orders as o').select('o.seq').where('o.counted', '=', sql.lit(0))
  const mine = orders.where(foundInScope(scope, 'o')).limit(1)
  const ofApp =
    appId === undefined ? mine : mine.where(sql<SqlBool>`coalesce(${sql.ref('o.app_id')}, '') = ${appId}`)
  return (await ofApp.executeTakeFirst()) !== undefined
}
