import { limits, unlimited } from '@keyward/contract'
import { sql } from 'kysely'
import { day, dayNumber, hour } from '../../core/clock.ts'
import type { Db } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { subjectOf } from '../mail/mail.queue.ts'
import { currentPlan } from '../owners/owners.service.ts'
import { limitsOf } from '../owners/plan.rules.ts'
import { areRefusalsRising, isRunningOut, type RefusalFacts } from './notifications.rules.ts'

// Reads of one vendor across all its apps, for the server's own looks: each recipient gets the part that it may read.

/** Apps and resellers of a vendor that a look covers, so that it takes about as long for every vendor. */
const appsMax = 1000
const resellersMax = 200
/** The newest refusals that a look counts. */
const refusalsRead = 5000

/** The newest waiting orders that a look covers. */
const ordersMax = 200

export interface WaitingOrder {
  id: string
  app_id: string
  number: string
  reason: string | null
}

export const listWaitingOrders = (lists: Db, ownerId: string): Promise<WaitingOrder[]> =>
  lists
    .selectFrom('shop_orders')
    .select(['id', 'app_id', 'number', 'reason'])
    .where('owner_id', '=', ownerId)
    .where('state', '=', 'waiting')
    .orderBy('seq', 'desc')
    .limit(ordersMax)
    .execute()

export interface UnmailedOrder {
  id: string
  app_id: string
  number: string
}

/** The newest orders whose keys could not be mailed, as long as their mails are kept. */
export async function listUnmailedOrders(lists: Db, ownerId: string): Promise<UnmailedOrder[]> {
  const mails = await lists
    .selectFrom('mails')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('state', 'in', ['failed', 'expired'])
    .where('lane', '=', `buyers ${ownerId}`)
    .orderBy('kept_until', 'desc')
    .limit(ordersMax)
    .execute()
  const ids = new Set(mails.flatMap(({ id }) => subjectOf(id) ?? []))
  const orders = lists.selectFrom('shop_orders').select(['id', 'app_id', 'number']).orderBy('seq', 'desc')
  const failed =
    ids.size === 0
      ? []
      : await orders
          .where('id', 'in', [...ids])
          .where('mail', '=', 'failed')
          .execute()
  const waiting = await orders
    .where('owner_id', '=', ownerId)
    .where('mail', '=', sql.lit('waiting'))
    .limit(ordersMax)
    .execute()
  return [...failed, ...waiting]
}

export interface AppOfVendor {
  id: string
  name: string
  created_at: number
  license_count: number
}

export const listApps = (lists: Db, ownerId: string): Promise<AppOfVendor[]> =>
  lists
    .selectFrom('apps')
    .select(['id', 'name', 'created_at', 'license_count'])
    .where('owner_id', '=', ownerId)
    .orderBy('seq')
    .limit(appsMax)
    .execute()

const blockHours = 256

/** Keys of each app that have not ended and are not banned, from the counts of the hours in which they end. */
export async function countKeys(
  lists: Db,
  ownerId: string,
  now: number,
): Promise<Map<string, { unused: number; active: number }>> {
  const bucket = Math.floor(now / hour)
  const block = Math.floor(bucket / blockHours)
  const { rows } = await sql<{ app_id: string; used: number; n: number }>`
    select app_id, used, sum(n) as n from (
      select app_id, used, n from license_blocks
        where owner_id = ${ownerId} and block > ${block} and banned = 0
      union all
      select app_id, used, n from license_counts
        where owner_id = ${ownerId} and bucket > ${bucket} and bucket < ${(block + 1) * blockHours} and banned = 0
    ) x group by app_id, used`.execute(lists)
  const found = new Map<string, { unused: number; active: number }>()
  for (const { app_id, used, n } of rows) {
    const counts = found.get(app_id) ?? { unused: 0, active: 0 }
    found.set(app_id, { ...counts, [used === 1 ? 'active' : 'unused']: Number(n) })
  }
  return found
}

/** Licenses in use that end in these hours since 1970, after the first and until the second, by app. */
export async function countEnding(
  lists: Db,
  ownerId: string,
  [after, until]: readonly [number, number],
): Promise<Map<string, number>> {
  const rows = await lists
    .selectFrom('license_counts')
    .select((eb) => ['app_id', eb.fn.sum<number>('n').as('n')])
    .where('owner_id', '=', ownerId)
    .where('bucket', '>', after)
    .where('bucket', '<=', until)
    .where('used', '=', 1)
    .where('banned', '=', 0)
    .groupBy('app_id')
    .execute()
  return new Map(rows.flatMap(({ app_id, n }) => (Number(n) > 0 ? [[app_id, Number(n)] as const] : [])))
}

export interface WeekCounts {
  licenses: number
  activations: number
}

/** Counts each app's licenses and activations over seven days that end yesterday, or `weeksAgo` weeks earlier. */
export async function countWeek(
  lists: Db,
  ownerId: string,
  now: number,
  weeksAgo = 0,
): Promise<Map<string, WeekCounts>> {
  const end = dayNumber(now) - 7 * weeksAgo
  const rows = await lists
    .selectFrom('daily_counts')
    .select((eb) => ['app_id', 'metric', eb.fn.sum<number>('n').as('n')])
    .where('owner_id', '=', ownerId)
    .where('metric', 'in', ['licenses', 'activations'])
    .where('day', '>=', end - 7)
    .where('day', '<', end)
    .groupBy(['app_id', 'metric'])
    .execute()
  const found = new Map<string, WeekCounts>()
  for (const { app_id, metric, n } of rows) {
    const counts = found.get(app_id) ?? { licenses: 0, activations: 0 }
    found.set(app_id, { ...counts, [metric]: Number(n) })
  }
  return found
}

/** Refusals of an app in a time, newest first and at most `refusalsRead` rows of them, by code. */
async function readRefusals(lists: Db, appId: string, after: number, until: number) {
  const newest = lists
    .selectFrom('activity')
    .select(['code', 'times', 'created_at'])
    .where('app_id', '=', appId)
    .where('share', '=', 'refusals')
    .where('created_at', '>', after)
    .where('created_at', '<=', until)
    .orderBy('created_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(refusalsRead)
    .as('newest')
  const rows = await lists
    .selectFrom(newest)
    .select((eb) => [
      'code',
      eb.fn.sum<number>('times').as('times'),
      eb.fn.countAll<number>().as('n'),
      eb.fn.min<number>('created_at').as('first'),
    ])
    .groupBy('code')
    .execute()
  const sum = (key: 'times' | 'n') => rows.reduce((total, row) => total + Number(row[key]), 0)
  const isAll = sum('n') < refusalsRead
  const [top] = [...rows].sort((a, b) => Number(b.times) - Number(a.times))
  const first = isAll ? after : Math.min(...rows.map((row) => Number(row.first)))
  return { times: sum('times'), isAll, code: top?.code ?? null, days: (until - first) / day }
}

export interface RisingRefusals extends RefusalFacts {
  isAll: boolean
  code: string | null
}

/** The refusals of an app if they have risen; a flood is compared by what was read of it, per day. */
export async function findRisingRefusals(
  lists: Db,
  app: AppOfVendor,
  now: number,
): Promise<RisingRefusals | undefined> {
  const recent = await readRefusals(lists, app.id, now - day, now)
  if (!areRefusalsRising({ recent: recent.times, usual: 0 })) return undefined
  const since = Math.min(now - day, Math.max(app.created_at, now - 8 * day))
  const before = await readRefusals(lists, app.id, since, now - day)
  const perDay = ({ times, days }: typeof recent) => times / Math.max(days, hour / day)
  const rate = recent.isAll ? recent.times : perDay(recent)
  const usual = before.times === 0 ? 0 : perDay(before)
  if (!areRefusalsRising({ recent: rate, usual })) return undefined
  return { recent: recent.times, usual, isAll: recent.isAll, code: recent.code }
}

/** Refusals of each app that has any in the seven days before today, with whether all were counted. */
export async function countRefusals(lists: Db, apps: readonly AppOfVendor[], now: number) {
  const end = dayNumber(now) * day
  const found = new Map<string, { n: number; isAll: boolean }>()
  for (const { id } of apps) {
    const { times, isAll } = await readRefusals(lists, id, end - 7 * day - 1, end - 1)
    if (times > 0) found.set(id, { n: times, isAll })
  }
  return found
}

/** Apps that have at least one stored refusal. */
export async function listRefusing(lists: Db, ownerId: string): Promise<Set<string>> {
  const rows = await lists
    .selectFrom('apps as a')
    .innerJoin('activity_shares as n', 'n.app_id', 'a.id')
    .select('a.id')
    .where('a.owner_id', '=', ownerId)
    .where('n.share', '=', 'refusals')
    .where('n.n', '>', 0)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

export interface FullReseller {
  id: string
  email: string
  app_id: string
  license_count: number
  allowed_license_keys: number
}

/** Resellers who have used 90 % of what they may generate. */
export const listFullResellers = (lists: Db, ownerId: string): Promise<FullReseller[]> =>
  lists
    .selectFrom('resellers')
    .select(['id', 'email', 'app_id', 'license_count', 'allowed_license_keys'])
    .where('owner_id', '=', ownerId)
    .where('active', '=', 1)
    .where('allowed_license_keys', '>', 0)
    .where(sql<boolean>`license_count * 10 >= allowed_license_keys * 9`)
    .orderBy('seq')
    .limit(resellersMax)
    .execute()

export interface FullPlan {
  /** Null unless the apps themselves are used up to 90 %. */
  apps: { used: number; limit: number } | null
  licenses: { app: AppOfVendor; limit: number }[]
}

/** What a vendor has used of the limits of its plan, where that is 90 % of them. */
export async function findFullPlan(
  ctx: Pick<Ctx, 'config' | 'clock' | 'db'>,
  ownerId: string,
  apps: readonly AppOfVendor[],
): Promise<FullPlan> {
  const owner = await ctx.db
    .selectFrom('owners')
    .select(['premium_until', 'app_count', 'max_apps', 'max_licenses_per_app'])
    .where('id', '=', ownerId)
    .executeTakeFirst()
  const { maxApps, maxLicensesPerApp } = owner
    ? limitsOf(currentPlan(ctx, owner).plan, owner)
    : limits.premium
  const used = owner?.app_count ?? 0
  return {
    apps: maxApps !== unlimited && isRunningOut(used, maxApps) ? { used, limit: maxApps } : null,
    licenses: apps
      .filter(({ license_count }) => isRunningOut(license_count, maxLicensesPerApp))
      .map((app) => ({ app, limit: maxLicensesPerApp })),
  }
}
