import {
  type Bans,
  type BodyOf,
  type endpoints,
  type License,
  type ListedLicenseStatus,
  unlimited,
} from '@keyward/contract'
import type { Actor, OwnerScope, VendorActor } from '../../core/actor.ts'
import { toTypedKey } from '../../core/ids.ts'
import type { NameSort, Sort } from '../../core/paging.ts'
import { problem } from '../../core/problem.ts'
import { inSlices, type Slice, type Transactions, type Tx, type WriteTransaction } from '../../db/index.ts'
import { countEnding, type ListQuery, type SortedPage, soonMs } from '../../db/lists/list-filters.ts'
import { findIds, findPage } from '../../db/lists/lists.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findAppId, findIssuingApp, type IssuingApp, reserveLicenses } from '../apps/apps.access.ts'
import { linkedCustomer, shownCustomerId } from '../customers/customers.access.ts'
import { namedUser, readUserNames } from '../customers/names.access.ts'
import { expireUsersOf } from '../entitlements/entitlements.service.ts'
import * as rows from '../entitlements/license-rows.ts'
import { lockLicensesOf } from '../entitlements/license-rows.ts'
import { draftOf } from '../license-types/license-types.access.ts'
import { getLimits } from '../owners/owners.service.ts'
import { planLimit, reserveForReseller } from '../resellers/resellers.service.ts'
import { hasTwins } from './licenses.access.ts'
import { readGranted } from './licenses.grants.ts'
import { draftLicenses, insertsOf } from './licenses.issue.ts'
import { licenseList, licenseListBy, matchesOf } from './licenses.list.ts'
import { countNewKeys, queueKeys, refuseMailOff } from './licenses.mail.ts'
import { toListFilter } from './licenses.origins.ts'
import * as repo from './licenses.repo.ts'
import { asNew, hintOf, readBuyReference, toLicense, toTerms } from './licenses.rules.ts'

type LicenseQuery = Omit<ListQuery<ListedLicenseStatus>, keyof SortedPage> & { banned?: Bans | undefined }

export async function listLicenses(
  ctx: Ctx,
  actor: VendorActor,
  query: LicenseQuery & SortedPage<Sort | NameSort>,
) {
  const now = ctx.clock.now()
  const filter = await toListFilter(ctx.db, actor, query, now)
  const { search, ...page } = { ...query, search: toSearched(ctx, query.search) }
  const list = licenseListBy(query.banned)
  const { seqs, pagination, stats } = await findPage(ctx.database, list, filter, { ...page, search })
  const rows = await repo.listBySeq(ctx.db, actor, seqs, query.sort)
  const matches = await matchesOf(ctx.db, filter, search, rows)
  const names = await readUserNames(ctx.db, actor, rows)
  const licenses = rows.map((row) => {
    const license = toLicense(ctx, row, now, names)
    const { buyReference } = license
    const match = { field: 'reference' as const, text: buyReference }
    return Object.assign(license, buyReference === query.search ? { match } : matches(row))
  })
  return { licenses, pagination, stats }
}

/** What a search of licenses looks for: the id of the license that a reference of links to a shop names, or the text. */
export const toSearched = ({ seal }: Pick<Ctx, 'seal'>, search: string | undefined): string | undefined =>
  readBuyReference(seal, search ?? '') ?? search

/** The ids of those that match the filters of a list, newest first. */
export async function matchLicenses(ctx: Ctx, actor: VendorActor, query: LicenseQuery) {
  const filter = await toListFilter(ctx.db, actor, query, ctx.clock.now())
  return findIds(ctx.database, licenseListBy(query.banned), filter, toSearched(ctx, query.search))
}

export async function getLicense(ctx: Ctx, scope: OwnerScope, id: string): Promise<License> {
  const license = await repo.findLicense(ctx.db, scope, id)
  if (!license) throw problem('not_found')
  return toLicense(ctx, license, ctx.clock.now())
}

export async function getLicenseWithGrants(ctx: Ctx, scope: OwnerScope, id: string) {
  const license = await getLicense(ctx, scope, id)
  const usedBy = await namedUser(ctx.db, scope, license.usedBy)
  const granted = await readGranted(ctx.db, scope, { licenses: [id] }, ctx.clock.now())
  return { ...license, usedBy, grants: granted?.grants ?? [] }
}

export { licenseListBy }

/** Source of an export of licenses. */
export const licenseSource = {
  list: licenseList,
  read: async (ctx: Ctx, scope: OwnerScope, seqs: readonly number[], now: number): Promise<License[]> =>
    (await repo.listBySeq(ctx.db, scope, seqs, 'newest')).map((row) => toLicense(ctx, row, now)),
}

/** Used licenses that end in the next days, and those that ended in as many days before. */
export async function countEndingLicenses(
  { database }: Ctx,
  scope: OwnerScope,
  { now, banned }: { now: number; banned?: Bans | undefined },
) {
  const countBetween = (from: number, to: number) =>
    countEnding(database, licenseListBy(banned), { scope, now }, { from, to })
  return { soon: await countBetween(now, now + soonMs), before: await countBetween(now - soonMs, now) }
}

/** Counts an owner's licenses, or those of one app that the caller has checked to be the owner's. */
export const countLicenses = (
  ctx: Ctx,
  scope: OwnerScope,
  { appId, banned }: { appId?: string; banned?: Bans | undefined } = {},
) => licenseListBy(banned).count(ctx.database, { scope, appId, now: ctx.clock.now() })

export type NewLicenses = BodyOf<typeof endpoints.licenses.create>

/** Creates all of them or none. */
export async function createLicenses(ctx: Ctx, actor: VendorActor, batch: NewLicenses): Promise<License[]> {
  if (batch.mail) refuseMailOff(ctx)
  const now = ctx.clock.now()
  const plain = batch.type === undefined ? { terms: toTerms(batch, now), type: undefined } : undefined
  // The response names the reseller.
  if (batch.reseller !== undefined && !actor.permissions.has('resellers:read')) {
    throw problem('permission_missing')
  }
  const { maxLicensesPerApp, maxResellers } = await getLimits(ctx, actor)
  if (batch.reseller !== undefined && maxResellers === 0) throw planLimit(maxResellers)
  return ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      const app = await findIssuingApp(tx, actor, batch.app)
      if (!app) throw appGone()
      const customerId = await linkedCustomer(write, actor, batch.customer, app.id)
      if (batch.key !== undefined) await refuseKey(tx, app, batch.key)
      // Without a limit, a custom key and a reseller, nothing has to be decided under the app's lock.
      const { key, reseller: resellerId } = batch
      const isFree = maxLicensesPerApp === unlimited && key === undefined && resellerId === undefined
      if (!isFree && !(await reserveLicenses(tx, actor, app.id, batch.count, maxLicensesPerApp, now))) {
        throw problem('plan_limit_reached', {
          message: `Your plan allows ${maxLicensesPerApp} licenses per app`,
        })
      }
      const reseller =
        resellerId === undefined
          ? undefined
          : await reserveForReseller(tx, actor, { id: resellerId, appId: app.id }, batch.count)
      const offer = plain ?? (await draftOf(tx, actor, app.id, batch.type ?? '', now))
      const draft = { key: batch.key, note: batch.note, ...offer }
      const drafts = Array.from({ length: batch.count }, () => draft)
      const made = await draftLicenses(
        { ownerId: actor.ownerId, appId: app.id, resellerId, customerId, now },
        drafts,
      )
      const ids = made.map((license) => license.id)
      if (batch.mail && customerId) await countNewKeys(write, customerId)
      const sent = batch.mail ? await queueKeys(ctx, write, made) : undefined
      const detail = {
        ...{ count: ids.length, ids, ...(reseller ? { resellerId } : {}) },
        ...(sent && { mailed: true }),
      }
      const objects = reseller ? [...ids, reseller.id] : ids
      write.recordWith(objects, 'licenses.created', app.id, detail, app.id)
      write.last(insertsOf(tx, made))
      if (sent) write.last([sent.insertion])
      const customer = customerId ? await shownCustomerId(tx, actor, customerId) : null
      const mail = { mail: sent?.mail ?? null, mail_waits_for: sent?.mail_waits_for ?? null }
      return made.map((license) =>
        toLicense(ctx, asNew(license, app, offer.type, reseller, customer, mail), now),
      )
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
    await deleteAndExpireUsers(write, actor, [id])
    const detail = { used: license.used === 1, hint: hintOf(license.key) }
    const objects = license.client_id === null ? [] : [license.client_id]
    write.recordWith(objects, 'license.deleted', id, detail, license.app_id)
  })
}

export async function deleteAllLicenses(
  ctx: Ctx,
  actor: VendorActor,
  app: string | undefined,
): Promise<number> {
  return deleteLicensesInSlices(ctx, actor, { appId: await findAppId(ctx.db, actor, app) })
}

/** Deletes licenses and expires their end users. */
export async function deleteAndExpireUsers(
  write: Pick<WriteTransaction, 'tx' | 'now'>,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<number> {
  await lockLicensesOf(write.tx, scope, { licenses: ids })
  await expireUsersOf(write, scope, ids)
  return rows.deleteByIds(write.tx, scope, ids)
}

/** Deletes the licenses that exist now, each slice in its own transaction; records start, slices and end. */
export async function deleteLicensesInSlices(
  ctx: Transactions,
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
  write: WriteTransaction,
  scope: OwnerScope,
  filter: rows.SliceFilter,
  size: number,
): Promise<Slice> {
  const ids = await rows.listSlice(write.tx, scope, filter, size)
  const changed = ids.length === 0 ? 0 : await deleteAndExpireUsers(write, scope, ids)
  return { found: ids.length, changed }
}

const keyTaken = () => problem('key_taken')
const appGone = () => problem('not_found', { message: 'App not found' })
