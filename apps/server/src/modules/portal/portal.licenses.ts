import {
  type BodyOf,
  type DataOf,
  type endpoints,
  limits,
  type PortalLicense,
  type PortalStats,
} from '@keyward/contract'
import type { ResellerActor } from '../../core/actor.ts'
import { day, toEpochMs, toIso } from '../../core/clock.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { invalid, problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import { readPatiently, type Tx } from '../../db/index.ts'
import { toSearchTerm } from '../../db/lists/search.ts'
import { accessEnd } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listLastRefusals, listRefusalsOfKeys } from '../activity/activity.service.ts'
import { reserveLicenses } from '../apps/apps.access.ts'
import { toSlices, walkDown } from '../bulk/export.walk.ts'
import { textsOf } from '../customer-page/customer-page.service.ts'
import { type RefusalDeps, toRefusal } from '../customer-page/customer-self.ts'
import { listEndUserDevices } from '../end-users/end-users.devices.ts'
import { setResellerNote } from '../entitlements/license-rows.ts'
import { endFields, toTerms } from '../entitlements/terms.rules.ts'
import { draftOf, typeGone } from '../license-types/license-types.access.ts'
import { draftLicenses, insertsOf } from '../licenses/licenses.issue.ts'
import { untilDate } from '../licenses/licenses.rules.ts'
import { deleteLicensesInSlices } from '../licenses/licenses.service.ts'
import { getLimits } from '../owners/owners.service.ts'
import { findReseller, reserveQuota } from '../resellers/resellers.access.ts'
import { remainingLicenses } from '../resellers/resellers.rules.ts'
import * as repo from './portal.repo.ts'
import { getReseller } from './portal.service.ts'

export async function listLicenses(
  ctx: Ctx,
  actor: ResellerActor,
  { search, ...page }: Page & { search?: string | undefined },
) {
  const { app_name: appName } = await getReseller(ctx, actor)
  const now = ctx.clock.now()
  const stats = await countLicenses(ctx, actor)
  const term = toSearchTerm(search)
  const hits = term && (await repo.searchLicenses(ctx.database, actor, term))
  const total = hits?.length ?? stats.total
  const start = (page.page - 1) * page.limit
  const seqs =
    hits?.slice(start, start + page.limit) ?? (await repo.pageOfLicenses(ctx.database, actor, page, total))
  const rows = await repo.readLicenses(ctx.database, actor, seqs)
  return {
    licenses: rows.map((row) => toPortalLicense(row, appName, now)),
    stats,
    pagination: toPagination(page, total, false),
  }
}

/** All of the reseller's licenses that match the search, newest first, in slices. */
export async function exportLicenses(
  ctx: Ctx,
  actor: ResellerActor,
  search: string | undefined,
): Promise<AsyncGenerator<PortalLicense[]>> {
  const { app_name: appName } = await getReseller(ctx, actor)
  const now = ctx.clock.now()
  const term = toSearchTerm(search)
  const slices = term
    ? toSlices(await repo.searchLicenses(ctx.database, actor, term))
    : walkDown(async (before, count) =>
        (await repo.licensesBefore(ctx.database, actor, before, count)).map(({ seq }) => ({ seq, hit: 1 })),
      )
  return (async function* () {
    for await (const seqs of slices) {
      const rows = await readPatiently(() => repo.readLicenses(ctx.database, actor, seqs))
      yield rows.map((row) => toPortalLicense(row, appName, now))
    }
  })()
}

async function countLicenses(ctx: Ctx, actor: ResellerActor): Promise<PortalStats> {
  const counts = await repo.countLicenses(ctx.database, actor, ctx.clock.now())
  const remaining = remainingLicenses(await getReseller(ctx, actor))
  return { ...counts, active: counts.total - counts.expired, remaining }
}

export type NewLicenses = BodyOf<typeof endpoints.portal.createLicenses>

function toDated(batch: NewLicenses, now: number) {
  const path = batch.expiresAt === undefined ? 'date_expired' : 'expiresAt'
  const expiresAt = toEpochMs(batch[path] ?? '')
  if (!(expiresAt > now)) throw invalid(path, 'The expiry must be in the future')
  return { terms: untilDate(expiresAt) }
}

async function resellableDraft(tx: Tx, actor: ResellerActor, id: string, now: number) {
  const draft = await draftOf(tx, actor, actor.appId, id, now)
  if (draft.type.resellable === 0) throw typeGone()
  return draft
}

/** Creates all of them within the quota, or none. */
export async function createLicenses(
  ctx: Ctx,
  actor: ResellerActor,
  batch: NewLicenses,
): Promise<{ licenses: PortalLicense[]; stats: PortalStats }> {
  const licenses = await insertLicenses(ctx, actor, batch)
  return { licenses, stats: await countLicenses(ctx, actor) }
}

async function insertLicenses(ctx: Ctx, actor: ResellerActor, batch: NewLicenses): Promise<PortalLicense[]> {
  const now = ctx.clock.now()
  const dated = batch.type === undefined ? toDated(batch, now) : undefined
  const { maxResellers, maxLicensesPerApp } = await getLimits(ctx, actor)
  if (maxResellers === 0) throw unavailable()
  const { app_name: appName } = await getReseller(ctx, actor)
  return ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      // Lock the app before the reseller, in the same order as deleting licenses does.
      if (!(await reserveLicenses(tx, actor, actor.appId, batch.count, maxLicensesPerApp, now)))
        throw unavailable()
      if (!(await reserveQuota(tx, actor.resellerId, batch.count))) {
        const reseller = await findReseller(tx, actor, actor.resellerId)
        throw reseller?.active === 1 ? quotaReached(remainingLicenses(reseller)) : problem('unauthorized')
      }
      const draft = dated ?? (await resellableDraft(tx, actor, batch.type ?? '', now))
      const drafts = Array.from({ length: batch.count }, () => draft)
      const issued = await draftLicenses({ ...actor, now }, drafts)
      const ids = issued.map((license) => license.id)
      // A reseller may create thousands at once; the record's detail lists only the first ones.
      const detail = { count: ids.length, ids: ids.slice(0, limits.bulkMax) }
      write.recordWith(ids, 'licenses.created', actor.appId, detail, actor.appId)
      const note = batch.note || null
      write.last(insertsOf(tx, issued))
      if (note !== null) write.last([setResellerNote(tx, ids, note).compile()])
      return issued.map((license) =>
        toPortalLicense(
          { ...license, used: 0, username: null, left_ms: null, reseller_note: note },
          appName,
          now,
        ),
      )
    },
    { rows: batch.count },
  )
}

/** Where refusals of this reseller's keys are looked for, and their end users. */
const inApp = ({ ownerId, appId }: ResellerActor) => ({ ownerId, apps: new Set([appId]) })

/** A license with what helps its customer, but for what the owner wrote about it. */
export async function getLicense(
  deps: RefusalDeps,
  actor: ResellerActor,
  id: string,
): Promise<DataOf<typeof endpoints.portal.getLicense>> {
  const { db, clock } = deps.ctx
  const { license, row } = await readLicense(deps.ctx, actor, id)
  const scope = inApp(actor)
  const since = clock.now() - limits.customerRefusalDays * day
  const refused =
    row.client_id === null
      ? (await listRefusalsOfKeys(db, scope, [row.key], since)).get(row.key)
      : (await listLastRefusals(db, scope, [row.client_id], since)).get(row.client_id)
  const textOf = await textsOf(deps, { id: actor.appId }, undefined)
  const places = row.client_id === null ? null : await listEndUserDevices(deps.ctx, scope, row.client_id)
  return {
    license,
    devices: places && { used: places.used, limit: places.limit },
    refusal: await toRefusal(deps, actor, refused, (code) => textOf(code)),
  }
}

async function readLicense(ctx: Ctx, actor: ResellerActor, id: string) {
  const row = await repo.findLicense(ctx.db, actor, id)
  if (!row) throw problem('not_found')
  const { app_name: appName } = await getReseller(ctx, actor)
  return { row, license: toPortalLicense(row, appName, ctx.clock.now()) }
}

/** Saves what the reseller writes about a license. */
export async function updateLicense(
  ctx: Ctx,
  actor: ResellerActor,
  id: string,
  { note, seen }: BodyOf<typeof endpoints.portal.updateLicense>,
): Promise<{ license: PortalLicense }> {
  await ctx.tx(actor, async (write) => {
    const now = await repo.lockNote(write.tx, actor, id)
    if (!now) throw problem('not_found')
    const wanted = { note: note || null }
    if (seen && hasChanged(now, seen, wanted)) throw problem('license_changed')
    await setResellerNote(write.tx, [id], wanted.note).execute()
    write.record('license.noted', id, {}, actor.appId)
  })
  return { license: (await readLicense(ctx, actor, id)).license }
}

/** Deletes this reseller's licenses; their end users stay but expire immediately. */
export const deleteLicenses = (ctx: Ctx, actor: ResellerActor): Promise<number> =>
  deleteLicensesInSlices(ctx, actor, { resellerId: actor.resellerId })

const quotaReached = (remaining: number) => {
  const message =
    remaining === 0
      ? 'Your license quota is used up'
      : `You can generate at most ${remaining} more license(s)`
  return problem('quota_reached', { message, issues: [{ path: 'count', message }] })
}

/** Hides the owner's plan from the reseller. */
const unavailable = () =>
  problem('plan_limit_reached', {
    message: 'Licenses cannot be generated at the moment. Please contact your administrator.',
  })

type PortalRow = Pick<
  LicenseRow,
  | 'id'
  | 'key'
  | 'used'
  | 'banned'
  | 'created_at'
  | 'expires_at'
  | 'grace_days'
  | 'term'
  | 'duration_value'
  | 'duration_unit'
  | 'started_at'
> & { username: string | null; left_ms: number | null; reseller_note: string | null }

const toPortalLicense = (row: PortalRow, appName: string, now: number): PortalLicense => {
  const ending = endFields(row, now)
  return {
    _id: row.id,
    key: row.key,
    app: { name: appName },
    status: accessEnd(row, now) > now ? 'ACTIVE' : 'EXPIRED',
    used: row.used === 1,
    banned: row.banned === 1,
    usedBy: row.username,
    note: row.reseller_note,
    createdAt: toIso(row.created_at),
    ...ending,
    date_expired: ending.expiresAt,
    ...toTerms(row),
  }
}
