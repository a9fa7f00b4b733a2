import { Readable } from 'node:stream'
import {
  type endpoints,
  limits,
  type QueryOf,
  type SaleFigures,
  type Sales,
  toCsvLine,
} from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { FileAnswer } from '../../core/answers.ts'
import { day, minute, toIso } from '../../core/clock.ts'
import type { SaleKind } from '../../db/tables/sales.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findAppId } from '../apps/apps.access.ts'
import { spans } from './sales.count.ts'
import { daysOf } from './sales.days.ts'
import * as repo from './sales.repo.ts'

export type SalesQuery = QueryOf<typeof endpoints.sales.get>

const dueWithin = 30 * day

export async function getSales(
  ctx: Ctx,
  actor: VendorActor,
  { app, from, to, timeZone }: SalesQuery,
): Promise<Sales> {
  const { lists } = ctx.database
  const filter = { scope: actor, appId: await findAppId(ctx.db, actor, app) }
  const days = daysOf(from, to, timeZone)
  const span = { from: days.starts[0] ?? 0, until: days.starts.at(-1) ?? 0 }
  const groups = await repo.sumGroups(lists, filter, span)
  const daily = Map.groupBy(await repo.sumDays(lists, filter, days), (sum) => sum.day)
  const dueFrom = toQuarter(ctx.clock.now())
  const due = await repo.sumGroups(lists, filter, { from: dueFrom, until: dueFrom + dueWithin })
  const byProduct = largest(groups, ({ product }) => product)
  const byShop = largest(groups, ({ shop_id }) => shop_id)
  const ids = [...new Set(byShop.map(({ name }) => name))]
  const shops = new Map(
    (ids.length > 0 ? await repo.listShops(lists, actor, ids) : []).map((row) => [row.id, row]),
  )
  return {
    currencies: byCurrency(groups),
    products: byProduct.map(({ name, ...figures }) => ({ product: name || null, ...figures })),
    shops: byShop.flatMap(({ name, ...figures }) => {
      const row = shops.get(name)
      const shop = row && { _id: row.id, name: row.name, kind: row.kind, deleted: row.deleted_at !== null }
      return shop ? [{ shop, ...figures }] : []
    }),
    days: days.dates.map((date, at) => ({ date, currencies: byCurrency(daily.get(at) ?? []) })),
    renewalsDue: {
      ...{ from: toIso(dueFrom), until: toIso(dueFrom + dueWithin) },
      currencies: inCurrencies(
        due.filter(({ kind }) => kind === 'due'),
        (sums) => ({ orders: countOf(sums, 'due'), amount: amountOf(sums, 'due') }),
      ).filter(({ orders }) => orders > 0),
    },
    counting: await repo.hasUncounted(lists, filter),
  }
}

const toQuarter = (at: number) => Math.floor(at / (spans.quarter * minute)) * spans.quarter * minute

type Sum = Pick<repo.GroupedSum, 'currency' | 'kind' | 'n' | 'amount'>

const sumOf = (sums: readonly Sum[], kind: SaleKind, column: 'n' | 'amount'): number =>
  sums.reduce((total, sum) => (sum.kind === kind ? total + sum[column] : total), 0)
const countOf = (sums: readonly Sum[], kind: SaleKind) => sumOf(sums, kind, 'n')
const amountOf = (sums: readonly Sum[], kind: SaleKind) => sumOf(sums, kind, 'amount')

function toFigures(sums: readonly Sum[]): SaleFigures {
  const [newRevenue, renewedRevenue] = [amountOf(sums, 'new'), amountOf(sums, 'renewed')]
  return {
    orders: countOf(sums, 'new'),
    renewals: countOf(sums, 'renewed'),
    ...{ revenue: newRevenue + renewedRevenue, newRevenue, renewedRevenue },
    unpriced: countOf(sums, 'unpriced'),
    refunds: countOf(sums, 'refunded'),
    refunded: amountOf(sums, 'refunded'),
    disputes: countOf(sums, 'disputed'),
    disputed: amountOf(sums, 'disputed'),
    disputesWon: countOf(sums, 'dispute_won'),
    recovered: amountOf(sums, 'dispute_won'),
    trials: countOf(sums, 'trial'),
  }
}

const isAnything = (figures: SaleFigures): boolean => Object.values(figures).some((value) => value !== 0)

function inCurrencies<Result>(sums: readonly Sum[], make: (sums: Sum[]) => Result) {
  const found = [...Map.groupBy(sums, ({ currency }) => currency)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return found.map(([currency, own]) => ({ currency: currency || null, ...make(own) }))
}

const byCurrency = (sums: readonly Sum[]) => inCurrencies(sums, toFigures).filter(isSomething)
const isSomething = ({ currency: _, ...figures }: SaleFigures & { currency: string | null }) =>
  isAnything(figures)

/** The figures of each name in each currency, the largest revenue first. */
function largest(groups: readonly repo.GroupedSum[], nameOf: (group: repo.GroupedSum) => string) {
  return [...Map.groupBy(groups, nameOf)]
    .flatMap(([name, sums]) => byCurrency(sums).map((figures) => ({ name, ...figures })))
    .toSorted((a, b) => b.revenue - a.revenue || b.orders - a.orders || (a.name < b.name ? -1 : 1))
    .slice(0, limits.saleGroupsMax)
}

/** A line for each day, currency, shop and product. */
export async function exportSales(
  ctx: Ctx,
  actor: VendorActor,
  { app, from, to, timeZone }: SalesQuery,
): Promise<FileAnswer> {
  const { lists } = ctx.database
  const filter = { scope: actor, appId: await findAppId(ctx.db, actor, app) }
  const days = daysOf(from, to, timeZone)
  const sums = await repo.sumDaysByGroup(lists, filter, days)
  const ids = [...new Set(sums.map(({ shop_id }) => shop_id))]
  const shops = new Map(
    (ids.length > 0 ? await repo.listShops(lists, actor, ids) : []).map((row) => [row.id, row.name]),
  )
  const keyOf = (sum: (typeof sums)[number]) =>
    JSON.stringify([sum.day, sum.currency, sum.shop_id, sum.product])
  const lines = [...Map.groupBy(sums, keyOf).values()].flatMap((own) => {
    const [{ day: at, currency, shop_id, product }] = own as [(typeof own)[number]]
    const figures = toFigures(own)
    if (!isAnything(figures)) return []
    return toCsvLine([
      ...[days.dates[at] ?? '', currency || null, shops.get(shop_id) ?? null, shop_id, product || null],
      ...figureNames.map((name) => String(figures[name])),
    ])
  })
  const header = toCsvLine(['date', 'currency', 'shop', 'shopId', 'product', ...figureNames])
  return new FileAnswer({
    name: `sales-${from}-${to}.csv`,
    type: 'text/csv; charset=utf-8',
    content: Readable.from([header, ...lines]),
  })
}

const figureNames = Object.keys(toFigures([])) as (keyof SaleFigures)[]
