import {
  type ExposedCustomer,
  type Exposure,
  limits,
  type SecurityFix,
  type VersionsInUse,
} from '@keyward/contract'
import { type OwnerScope, system } from '../../core/actor.ts'
import { day, dayNumber, toIso, toIsoOrNull } from '../../core/clock.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { problem } from '../../core/problem.ts'
import type { ReleaseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp } from '../apps/apps.access.ts'
import { listShown } from '../customers/faces.access.ts'
import type { TidyCtx } from '../description.ts'
import { hasFix, newestWithin } from '../releases/catalog.rules.ts'
import { readCatalog } from '../releases/kept-releases.ts'
import { isOut } from '../releases/releases.rules.ts'
import { toSecurity } from '../releases/releases.view.ts'
import { keepExposed } from '../releases/told.access.ts'
import * as repo from './exposure.repo.ts'

type Reading = Pick<Ctx, 'clock' | 'database' | 'db'>

/** Devices that were seen since then count as seen. */
const seenSince = (now: number): number => now - limits.unseenDays * day

const toDate = (dayOf: number): string => toIso(dayOf * day).slice(0, 10)

export async function versionsInUse(ctx: Reading, scope: OwnerScope, app: string): Promise<VersionsInUse> {
  const { id: appId } = await getApp(ctx.db, scope, app)
  const since = seenSince(ctx.clock.now())
  const versions = await repo.listVersions(ctx.database.lists, { appId }, since)
  const rest = await repo.countRest(ctx.database.lists, appId, since)
  return {
    versions: versions.map(({ version, devices, last_seen_at }) => ({
      version,
      devices,
      lastSeenAt: toIso(last_seen_at),
    })),
    ...rest,
  }
}

/** How many bound devices a setting `minimumVersion` refuses, by the version that they ran last. */
export async function countRefused(
  { clock, database, db }: Reading,
  scope: OwnerScope,
  app: string,
  minimumVersion: string,
): Promise<number> {
  const { id: appId } = await getApp(db, scope, app)
  const releases = await readCatalog(database.lists, appId)
  let refused = 0
  for (const { version, devices } of await repo.listOlder(database.lists, appId, minimumVersion)) {
    if (hasFix(releases, version)) continue
    const ends = newestWithin(releases, version, clock.now())
    const running = ends ? await repo.countCovered(database.lists, { appId, version }, ends) : 0
    refused += devices - running
  }
  return refused
}

/** A release that repairs something. */
export interface Fix {
  row: ReleaseRow
  security: SecurityFix
  affected: repo.Affected
}

export async function getFix(ctx: Reading, scope: OwnerScope, id: string): Promise<Fix> {
  const row = await repo.findRelease(ctx.db, scope, id)
  if (!row) throw problem('not_found')
  const security = toSecurity(row.security)
  if (!security) throw problem('release_repairs_nothing')
  return { row, security, affected: { appId: row.app_id, ranges: security.affects } }
}

export const readExposure = async (ctx: Reading, scope: OwnerScope, id: string): Promise<Exposure> => {
  const { days, ...exposure } = await exposureOf(ctx, await getFix(ctx, scope, id))
  return {
    ...exposure,
    days: days.flatMap(({ date, devices }) => (devices === null ? [] : [{ date, devices }])),
  }
}

interface ExposedDay {
  date: string
  /** Affected devices at the end of the day; null if they were not counted. */
  devices: number | null
  toldDevices: number
  toldCustomers: number
}

/** How many devices a fix concerns, and what is known of each day. */
export async function exposureOf(
  { clock, database }: Reading,
  { row, affected }: Fix,
): Promise<Omit<Exposure, 'days'> & { days: ExposedDay[] }> {
  const { lists } = database
  const now = clock.now()
  const since = seenSince(now)
  const counts = await repo.countAffected(lists, affected, since)
  const versions = await repo.listVersions(lists, affected, since)
  const stored = await repo.listDays(lists, row.id)
  const today = { release_id: row.id, day: dayNumber(now), told_devices: 0, told_customers: 0 }
  const days = stored.at(-1)?.day === today.day ? stored : [...stored, { ...today, exposed: null }]
  return {
    ...counts,
    repaired: await repo.countRepaired(lists, affected, Math.min(row.released_at, row.created_at)),
    unknown: await repo.countUnknown(lists, affected.appId, since),
    versions: versions.map(({ version, devices }) => ({ version, devices })),
    days: days.map((one) => ({
      date: toDate(one.day),
      devices: one.day === today.day ? counts.devices : one.exposed,
      toldDevices: one.told_devices,
      toldCustomers: one.told_customers,
    })),
    told: {
      devices: days.reduce((sum, one) => sum + one.told_devices, 0),
      customers: days.reduce((sum, one) => sum + one.told_customers, 0),
    },
  }
}

/** Fixes that one read of an app's devices counts. */
const countedAtOnce = 50

/** Keeps how many devices were affected when the day before ended. */
export async function keepExposedDays({ clock, database: { lists }, tx: write }: TidyCtx): Promise<void> {
  const now = clock.now()
  const yesterday = dayNumber(now) - 1
  const uncounted = (await repo.listUncounted(lists, yesterday)).flatMap(({ security, ...release }) => {
    const ranges = toSecurity(security)?.affects
    return ranges && isOut(release, now) ? [{ ...release, ranges }] : []
  })
  for (const [appId, fixes] of Map.groupBy(uncounted, ({ app_id }) => app_id)) {
    for (let at = 0; at < fixes.length; at += countedAtOnce) {
      const some = fixes.slice(at, at + countedAtOnce)
      const ranges = some.map((fix) => fix.ranges)
      const counts = await repo.countEach(lists, appId, ranges, seenSince(now))
      const exposed = new Map(some.map(({ id }, nth) => [id, counts[nth] ?? 0]))
      await write(system, ({ tx }) => keepExposed(tx, yesterday, exposed))
    }
  }
}

export async function listExposedCustomers(ctx: Reading, scope: OwnerScope, id: string, page: Page) {
  const fix = await getFix(ctx, scope, id)
  const { lists } = ctx.database
  const total = await repo.countCustomers(lists, fix.affected)
  const { limit } = page
  const rows = await repo.listCustomers(lists, fix.affected, {
    ...{ releaseId: id, limit, offset: (page.page - 1) * limit },
  })
  return { customers: await toCustomers(ctx, scope, rows), pagination: toPagination(page, total, false) }
}

const sliceRows = 500

/** All customers with affected devices in slices. */
export async function exportExposedCustomers(
  ctx: Reading,
  scope: OwnerScope,
  id: string,
): Promise<AsyncGenerator<ExposedCustomer[]>> {
  const { affected } = await getFix(ctx, scope, id)
  return (async function* () {
    for (let before: number | undefined; ; ) {
      const place = { releaseId: id, limit: sliceRows, offset: 0, ...(before !== undefined && { before }) }
      const rows = await repo.listCustomers(ctx.database.lists, affected, place)
      if (rows.length > 0) yield await toCustomers(ctx, scope, rows)
      if (rows.length < sliceRows) return
      before = rows.at(-1)?.seq
    }
  })()
}

async function toCustomers(
  { db }: Reading,
  scope: OwnerScope,
  rows: Awaited<ReturnType<typeof repo.listCustomers>>,
): Promise<ExposedCustomer[]> {
  const shown = await listShown(
    db,
    scope,
    rows.map(({ id }) => id),
  )
  return rows.flatMap(({ id, devices, last_seen_at, told_at }) => {
    const customer = shown.get(id)
    return customer
      ? [
          {
            ...{ _id: customer.id, email: customer.email, devices },
            ...{ lastSeenAt: toIso(last_seen_at), toldAt: toIsoOrNull(told_at) },
          },
        ]
      : []
  })
}
