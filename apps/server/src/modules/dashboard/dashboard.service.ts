import { type Bans, limits } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { day, dayNumber } from '../../core/clock.ts'
import type { DailyMetric } from '../../db/tables/counts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getUser } from '../account/account.view.ts'
import { getApp } from '../apps/apps.access.ts'
import { listDailyCounts } from '../daily-counts/daily-counts.service.ts'
import { countEndUsers } from '../end-users/end-users.service.ts'
import { countEndingLicenses, countLicenses } from '../licenses/licenses.service.ts'
import * as repo from './dashboard.repo.ts'

const period = limits.activityDays

/** The figures of the dashboard; the contract describes each of them. */
export async function dashboardData(ctx: Ctx, actor: VendorActor, banned: Bans | undefined) {
  const { lists } = ctx.database
  const now = ctx.clock.now()
  const today = dayNumber(now)
  const counts = await listDailyCounts(lists, actor, { firstDay: today - 2 * period + 1 })
  const growth = (metric: DailyMetric) => {
    const rows = counts.filter((row) => row.metric === metric)
    const total = rows.reduce((sum, row) => sum + row.n, 0)
    const added = rows.filter((row) => row.day > today - period).reduce((sum, row) => sum + row.n, 0)
    return { change: added - (total - added), added }
  }
  const licenses = await countLicenses(ctx, actor, { banned })
  const clients = await countEndUsers(ctx, actor)
  const resellers = await repo.countResellers(lists, actor, { from: now - period * day, to: now })
  const ending = await countEndingLicenses(ctx, actor, { now, banned })
  return {
    user: await getUser(ctx, actor),
    stats: {
      totalLicenses: { value: licenses.total, ...growth('licenses') },
      activeLicenses: { value: licenses.active, ...growth('activations') },
      totalResellers: {
        value: resellers.total,
        change: resellers.within - resellers.before,
        added: resellers.within,
      },
      totalClients: { value: clients.total, ...growth('clients') },
      expiringSoon: { value: ending.soon, change: ending.soon - ending.before },
    },
  }
}

/** Activations, sign-ins and refusals per UTC day for the last 30 days, oldest first, including days without any. */
export async function activity(ctx: Ctx, scope: OwnerScope, app: string | undefined) {
  const appId = app === undefined ? undefined : (await getApp(ctx.db, scope, app)).id
  const firstDay = dayNumber(ctx.clock.now()) - period + 1
  const counts = await listDailyCounts(ctx.database.lists, scope, { appId, firstDay })
  const on = (at: number, metric: DailyMetric) =>
    counts.find((row) => row.day === at && row.metric === metric)?.n ?? 0
  return Array.from({ length: period }, (_, index) => firstDay + index).map((at) => ({
    date: new Date(at * day).toISOString().slice(0, 10),
    activations: on(at, 'activations'),
    signIns: on(at, 'sign_ins'),
    refusals: on(at, 'refusals'),
  }))
}
