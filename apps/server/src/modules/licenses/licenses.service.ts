import { type Duration, type License, type LicenseStatus, unlimited } from '@keyward/contract'
import type { Actor, OwnerScope, VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { inSlices, type Slice, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { Counts, ListQuery } from '../../db/lists/list-filters.ts'
import { findPage } from '../../db/lists/lists.ts'
import { toTypedKey } from '../../db/typed-keys.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findIssuingApp, type IssuingApp, reserveLicenses } from '../apps/apps.access.ts'
import { findAppId } from '../apps/apps.service.ts'
import type { AddedKey } from '../entitlements/added-time.ts'
import { expireUsersOf } from '../entitlements/entitlements.service.ts'
import { lockWithUsersLicenses } from '../entitlements/license-locks.ts'
import * as rows from '../entitlements/license-rows.ts'
import { movePauses } from '../entitlements/pauses.ts'
import { draftOf } from '../license-types/license-types.access.ts'
import { getLimits } from '../owners/owners.service.ts'
import { hasTwins, usersOf } from './licenses.access.ts'
import { draftLicenses, insertsOf } from './licenses.issue.ts'
import { licenseList } from './licenses.list.ts'
import * as repo from './licenses.repo.ts'
import { toTerms } from './licenses.rules.ts'
import { asNew, toLicense } from './licenses.view.ts'

export async function listLicenses(ctx: Ctx, scope: OwnerScope, query: ListQuery<LicenseStatus>) {
  const now = ctx.clock.now()
  const appId = await findAppId(ctx.db, scope, query.app)
  const filter = { scope, appId, status: query.status, now }
  const { seqs, pagination, stats } = await findPage(ctx.database, licenseList, filter, query)
  const rows = await repo.listBySeq(ctx.db, scope, seqs, query.sort)
  return { licenses: rows.map((row) => toLicense(row, now)), pagination, stats }
}

export async function getLicense(ctx: Ctx, scope: OwnerScope, id: string): Promise<License> {
  const license = await repo.findLicense(ctx.db, scope, id)
  if (!license) throw problem('not_found')
  return toLicense(license, ctx.clock.now())
}

/** Source of an export of licenses. */
export const licenseSource = {
  list: licenseList,
  read: async (ctx: Ctx, scope: OwnerScope, seqs: readonly number[], now: number): Promise<License[]> =>
    (await repo.listBySeq(ctx.db, scope, seqs, 'newest')).map((row) => toLicense(row, now)),
}

/** Counts an owner's licenses, or those of one app that the caller has checked to be the owner's. */
export const countLicenses = (ctx: Ctx, scope: OwnerScope, appId?: string): Promise<Counts<LicenseStatus>> =>
  licenseList.count(ctx.database, { scope, appId, now: ctx.clock.now() })

export interface NewLicenses {
  app: string
  expiresAt?: string | null | undefined
  duration?: Duration | undefined
  type?: string | undefined
  count: number
  key?: string | undefined
  note?: string | undefined
}

/** Creates all of them or none. */
export async function createLicenses(ctx: Ctx, actor: VendorActor, batch: NewLicenses): Promise<License[]> {
  const now = ctx.clock.now()
  const plain = batch.type === undefined ? { terms: toTerms(batch, now), type: undefined } : undefined
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  return ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      const app = await findIssuingApp(tx, actor, batch.app)
      if (!app) throw appGone()
      if (batch.key !== undefined) await refuseKey(tx, app, batch.key)
      // Without a limit and without a custom key, nothing has to be decided under the app's lock.
      const isFree = maxLicensesPerApp === unlimited && batch.key === undefined
      if (!isFree && !(await reserveLicenses(tx, actor, app.id, batch.count, maxLicensesPerApp, now))) {
        throw problem('plan_limit_reached', {
          message: `Your plan allows ${maxLicensesPerApp} licenses per app`,
        })
      }
      const offer = plain ?? (await draftOf(tx, actor, app.id, batch.type ?? '', now))
      const draft = { key: batch.key, note: batch.note, ...offer }
      const drafts = Array.from({ length: batch.count }, () => draft)
      const made = await draftLicenses({ ownerId: actor.ownerId, appId: app.id, now }, drafts)
      const ids = made.map((license) => license.id)
      write.record('licenses.created', app.id, { count: ids.length, ids }, app.id)
      write.last(() => insertsOf(tx, made))
      return made.map((license) => toLicense(asNew(license, app, offer.type), now))
    },
    { rows: batch.count, onTaken: keyTaken, onGone: appGone },
  )
}

/** A unique index rejects a key that the app has already. It leaves out equal keys of earlier versions, which this finds. */
async function refuseKey(tx: Tx, app: IssuingApp, key: string): Promise<void> {
  if (app.allow_custom_keys === 0) throw problem('custom_keys_off')
  if (await hasTwins(tx, app.id, toTypedKey(key).typed)) throw keyTaken()
}

export async function deleteLicense(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const license = await repo.findLicense(write.tx, actor, id)
    if (!license) throw problem('not_found')
    await deleteAndExpireUsers(write.tx, actor, [id], ctx.clock.now())
    write.record('license.deleted', id, { used: license.used === 1 }, license.app_id)
  })
}

export async function deleteAllLicenses(
  ctx: Ctx,
  actor: VendorActor,
  app: string | undefined,
): Promise<number> {
  return deleteLicensesInSlices(ctx, actor, { appId: await findAppId(ctx.db, actor, app) })
}

/**
 * Deletes licenses and expires their end users. Licenses first: a concurrent redemption then either commits before
 * and is returned here, or fails.
 */
export async function deleteAndExpireUsers(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
  now: number,
): Promise<number> {
  await lockWithUsersLicenses(tx, scope, ids)
  return expireUsers(tx, scope, await rows.deleteByIds(tx, scope, ids), now)
}

async function expireUsers(
  tx: Tx,
  scope: OwnerScope,
  deleted: readonly AddedKey[],
  now: number,
): Promise<number> {
  await movePauses(tx, scope, usersOf(deleted), now)
  await expireUsersOf(tx, scope, deleted, now)
  return deleted.length
}

/** Deletes the licenses that exist now, each slice in its own transaction; records start, slices and end. */
export async function deleteLicensesInSlices(
  ctx: Ctx,
  actor: Actor & OwnerScope,
  filter: { appId?: string | undefined; resellerId?: string | undefined },
): Promise<number> {
  const { appId = null, resellerId = null } = filter
  const lastSeq = await ctx.tx(actor, async (write) => {
    write.record('licenses.deletion_started', appId, { appId, resellerId }, appId)
    return repo.lastSeq(write.tx, actor)
  })
  const deleted = await inSlices(
    ctx,
    actor,
    (write, size) => deleteSlice(write, actor, { ...filter, lastSeq }, size),
    (write, count) => write.record('licenses.slice_deleted', appId, { count }, appId),
  )
  const finish = async (write: WriteTransaction) =>
    write.record('licenses.deletion_finished', appId, { count: deleted }, appId)
  await ctx.tx(actor, finish, { isPatient: true })
  return deleted
}

async function deleteSlice(
  { tx, now }: WriteTransaction,
  scope: OwnerScope,
  filter: rows.SliceFilter,
  size: number,
): Promise<Slice> {
  const ids = await rows.listSlice(tx, scope, filter, size)
  const changed = ids.length === 0 ? 0 : await deleteAndExpireUsers(tx, scope, ids, now)
  return { found: ids.length, changed }
}

const keyTaken = () => problem('key_taken')
const appGone = () => problem('not_found', { message: 'App not found' })
