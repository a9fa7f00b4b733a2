import type { License, LicenseStatus } from '@keyward/contract'
import { auditOwner } from '../../core/audit.ts'
import { toEpochMs, toIso, toIsoOrNull } from '../../core/clock.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { invalid, problem } from '../../core/problem.ts'
import { inSlices } from '../../core/slices.ts'
import { type Counts, findPage, type ListQuery } from '../../db/lists.ts'
import { type Tx, unlessTaken } from '../../db/open.ts'
import { findApp, findAppId, reserveLicenses } from '../apps/apps.service.ts'
import { getLimits } from '../auth/auth.service.ts'
import { expireUsersOf, setLicenseExpiry } from '../subscriptions/subscriptions.service.ts'
import { issueLicenses } from './licenses.issue.ts'
import { licenseList } from './licenses.list.ts'
import * as repo from './licenses.repo.ts'
import { licenseStatus } from './licenses.rules.ts'

export { findLicenseById, findLicenseByKey, lockLicenseById, takenKeys } from './licenses.repo.ts'

export async function listLicenses(ctx: Ctx, scope: OwnerScope, query: ListQuery<LicenseStatus>) {
  const now = ctx.clock.now()
  const appId = await findAppId(ctx.db, scope, query.app)
  const filter = { scope, appId, status: query.status, now }
  const { seqs, pagination, stats } = await findPage(ctx.database, licenseList, filter, query)
  const rows = await repo.listBySeq(ctx.db, scope, seqs, query.sort)
  return { licenses: rows.map((row) => toLicense(row, now)), pagination, stats }
}

/** How an export finds and reads licenses. */
export const licenseSource = {
  list: licenseList,
  read: async (ctx: Ctx, scope: OwnerScope, seqs: readonly number[], now: number): Promise<License[]> =>
    (await repo.listBySeq(ctx.db, scope, seqs, 'newest')).map((row) => toLicense(row, now)),
}

/** Counts of an owner's licenses, or of one app that is known to be the owner's. */
export const countLicenses = (ctx: Ctx, scope: OwnerScope, appId?: string): Promise<Counts<LicenseStatus>> =>
  licenseList.count(ctx.database, { scope, appId, now: ctx.clock.now() })

export interface NewLicenses {
  app: string
  expiresAt: string
  count: number
  key?: string | undefined
  note?: string | undefined
}

/** Makes all of them or none. */
export async function createLicenses(ctx: Ctx, scope: OwnerScope, given: NewLicenses): Promise<License[]> {
  const now = ctx.clock.now()
  const expiresAt = toEpochMs(given.expiresAt)
  if (expiresAt <= now) throw invalid('expiresAt', 'The expiry must be in the future')
  const { maxLicensesPerApp } = await getLimits(ctx, scope)
  const drafts = Array.from({ length: given.count }, () => ({ key: given.key, note: given.note, expiresAt }))
  const rows = await unlessTaken(keyTaken, () =>
    ctx.tx(async (tx) => {
      const app = await findApp(tx, scope, given.app)
      if (!app) throw problem('not_found', { message: 'App not found' })
      if (given.key !== undefined && app.allow_custom_keys === 0) throw problem('custom_keys_off')
      if (!(await reserveLicenses(tx, scope, app.id, drafts.length, maxLicensesPerApp))) {
        throw problem('plan_limit_reached', {
          message: `Your plan allows ${maxLicensesPerApp} licenses per app`,
        })
      }
      const made = await issueLicenses(tx, { ownerId: scope.ownerId, appId: app.id, now }, drafts)
      await auditOwner(tx, scope, now, 'licenses.created', app.id, { count: made.length })
      return repo.listById(
        tx,
        scope,
        made.map((license) => license.id),
      )
    }),
  )
  return rows.map((row) => toLicense(row, now))
}

/** A past expiry is taken here: the license expires now. */
export async function updateExpiry(
  ctx: Ctx,
  scope: OwnerScope,
  id: string,
  expiresAt: string,
): Promise<License> {
  return change(ctx, scope, id, 'license.expiry_changed', async (tx, license) => {
    await setLicenseExpiry(tx, license.id, Math.max(toEpochMs(expiresAt), ctx.clock.now()))
  })
}

export async function toggleBan(ctx: Ctx, scope: OwnerScope, id: string, banned?: boolean): Promise<License> {
  return change(ctx, scope, id, 'license.ban_toggled', async (tx, license) => {
    const next = banned ?? license.banned === 0
    await repo.setBanned(tx, scope, [license.id], next ? 1 : 0)
  })
}

export async function deleteLicense(ctx: Ctx, scope: OwnerScope, id: string): Promise<void> {
  const now = ctx.clock.now()
  await ctx.tx(async (tx) => {
    if (!(await repo.findLicense(tx, scope, id))) throw problem('not_found')
    await deleteForGood(tx, [id], now)
    await auditOwner(tx, scope, now, 'license.deleted', id)
  })
}

export async function deleteAllLicenses(
  ctx: Ctx,
  scope: OwnerScope,
  app: string | undefined,
): Promise<number> {
  const appId = await findAppId(ctx.db, scope, app)
  const deleted = await deleteLicensesInSlices(ctx, scope, { appId })
  const now = ctx.clock.now()
  await ctx.tx((tx) => auditOwner(tx, scope, now, 'licenses.deleted', appId, { count: deleted }))
  return deleted
}

/**
 * Deletes licenses and ends the time of who used them. The licenses go first: a program that uses one up
 * meanwhile is then either seen here, or comes too late for it.
 */
export async function deleteForGood(tx: Tx, ids: readonly string[], now: number): Promise<number> {
  const gone = await repo.deleteByIds(tx, ids)
  await expireUsersOf(tx, gone, now)
  return gone.length
}

/** Deletes the licenses that are there now, a slice in each transaction, so that others get their turn. */
export async function deleteLicensesInSlices(
  ctx: Ctx,
  scope: OwnerScope,
  filter: { appId?: string | undefined; resellerId?: string | undefined },
): Promise<number> {
  const lastSeq = await repo.lastSeq(ctx.db, scope)
  let deleted = 0
  await inSlices(async (size) => {
    const { found, gone } = await ctx.tx(async (tx) => {
      const ids = await repo.someIds(tx, scope, { ...filter, lastSeq }, size)
      return { found: ids.length, gone: ids.length && (await deleteForGood(tx, ids, ctx.clock.now())) }
    })
    deleted += gone
    return found
  })
  return deleted
}

async function change(
  ctx: Ctx,
  scope: OwnerScope,
  id: string,
  action: string,
  write: (tx: Tx, license: Pick<repo.LicenseView, 'id' | 'banned'>) => Promise<void>,
): Promise<License> {
  const now = ctx.clock.now()
  const row = await ctx.tx(async (tx) => {
    const [license] = await repo.lockLicenses(tx, scope, [id])
    if (!license) throw problem('not_found')
    await write(tx, license)
    await auditOwner(tx, scope, now, action, id)
    return repo.findLicense(tx, scope, id)
  })
  if (!row) throw problem('not_found')
  return toLicense(row, now)
}

const keyTaken = () => problem('key_taken')

export function toLicense(row: repo.LicenseView, now: number): License {
  return {
    _id: row.id,
    key: row.key,
    app: { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
    status: licenseStatus(row, now),
    used: row.used === 1,
    usedBy: row.client_id === null ? null : { _id: row.client_id, username: row.username ?? '' },
    usedAt: toIsoOrNull(row.used_at),
    banned: row.banned === 1,
    note: row.note,
    reseller: row.reseller_id === null ? null : { _id: row.reseller_id, email: row.reseller_email ?? '' },
    createdAt: toIso(row.created_at),
    expiresAt: toIso(row.expires_at),
  }
}
