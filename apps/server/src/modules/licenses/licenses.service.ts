import { type License, type LicenseStatus, licenseStatus, unlimited } from '@keyward/contract'
import type { Actor, VendorActor } from '../../core/actor.ts'
import { toEpochMs, toIso, toIsoOrNull } from '../../core/clock.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { invalid, problem } from '../../core/problem.ts'
import type { Write } from '../../core/record.ts'
import { inSlices } from '../../core/slices.ts'
import { type Counts, findPage, type ListQuery } from '../../db/lists.ts'
import { type Tx, unlessGone, unlessTaken } from '../../db/open.ts'
import type { AppRow, LicenseRow } from '../../db/tables.ts'
import { toTypedKey } from '../../db/typed-keys.ts'
import { findApp, reserveLicenses } from '../apps/apps.access.ts'
import { findAppId } from '../apps/apps.service.ts'
import { giveBack, takeBack } from '../entitlements/added-time.ts'
import { expireUsersOf, setLicenseExpiry } from '../entitlements/entitlements.service.ts'
import { lockWithUsersLicenses } from '../entitlements/license-locks.ts'
import { movePauses } from '../entitlements/pauses.ts'
import { getLimits } from '../owners/owners.service.ts'
import { hasTwins } from './licenses.access.ts'
import { draftLicenses, insertDrafted, issuing } from './licenses.issue.ts'
import { licenseList } from './licenses.list.ts'
import * as repo from './licenses.repo.ts'

export async function listLicenses(ctx: Ctx, scope: OwnerScope, query: ListQuery<LicenseStatus>) {
  const now = ctx.clock.now()
  const appId = await findAppId(ctx.db, scope, query.app)
  const filter = { scope, appId, status: query.status, now }
  const { seqs, pagination, stats } = await findPage(ctx.database, licenseList, filter, query)
  const rows = await repo.listBySeq(ctx.db, scope, seqs, query.sort)
  return { licenses: rows.map((row) => toLicense(row, now)), pagination, stats }
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
  expiresAt: string
  count: number
  key?: string | undefined
  note?: string | undefined
}

/** Creates all of them or none. */
export async function createLicenses(ctx: Ctx, actor: VendorActor, given: NewLicenses): Promise<License[]> {
  const now = ctx.clock.now()
  const expiresAt = toEpochMs(given.expiresAt)
  if (expiresAt <= now) throw invalid('expiresAt', 'The expiry must be in the future')
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  const drafts = Array.from({ length: given.count }, () => ({ key: given.key, note: given.note, expiresAt }))
  return unlessTaken(keyTaken, () =>
    unlessGone(appGone, () =>
      ctx.tx(
        actor,
        async (write) => {
          const { tx } = write
          const app = await findApp(tx, actor, given.app)
          if (!app) throw appGone()
          if (given.key !== undefined) await refuseKey(tx, app, given.key)
          // Without a limit and a key of the owner's own, there is nothing to decide under the app's lock.
          const isFree = maxLicensesPerApp === unlimited && given.key === undefined
          if (!isFree && !(await reserveLicenses(tx, actor, app.id, drafts.length, maxLicensesPerApp, now))) {
            throw problem('plan_limit_reached', {
              message: `Your plan allows ${maxLicensesPerApp} licenses per app`,
            })
          }
          const made = draftLicenses({ ownerId: actor.ownerId, appId: app.id, now }, drafts)
          const ids = made.map((license) => license.id)
          write.record('licenses.created', app.id, { count: ids.length, ids })
          write.last(() => insertDrafted(tx, made))
          return made.map((license) => toLicense(asNew(license, app), now))
        },
        issuing(given.count),
      ),
    ),
  )
}

/** A key that another key of the app equals violates a unique index, except beside older twins. */
async function refuseKey(tx: Tx, app: AppRow, key: string): Promise<void> {
  if (app.allow_custom_keys === 0) throw problem('custom_keys_off')
  if (await hasTwins(tx, app.id, toTypedKey(key).typed)) throw keyTaken()
}

/** A past expiry is accepted: the license expires now. */
export async function updateExpiry(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  expiresAt: string,
): Promise<License> {
  return change(ctx, actor, id, async (write, license) => {
    const after = Math.max(toEpochMs(expiresAt), ctx.clock.now())
    await movePauses(write.tx, actor, usersOf([license]), write.now)
    await setLicenseExpiry(write.tx, actor, license.id, after)
    write.record('license.expiry_changed', id, { before: license.expires_at, after })
  })
}

export async function toggleBan(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  given: { is_banned?: boolean | undefined; reason?: string | undefined },
): Promise<License> {
  return change(ctx, actor, id, async (write, license) => {
    const next = given.is_banned ?? license.banned === 0
    const reason = (next && given.reason) || null
    await changeBans(write, actor, [license], next, reason)
    if (next) write.record('license.banned', id, { reason })
    else write.record('license.unbanned', id, {})
  })
}

export async function deleteLicense(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const license = await repo.findLicense(write.tx, actor, id)
    if (!license) throw problem('not_found')
    await deleteAndExpireUsers(write.tx, actor, [id], ctx.clock.now())
    write.record('license.deleted', id, { used: license.used === 1 })
  })
}

export async function deleteAllLicenses(
  ctx: Ctx,
  actor: VendorActor,
  app: string | undefined,
): Promise<number> {
  return deleteLicensesInSlices(ctx, actor, { appId: await findAppId(ctx.db, actor, app) })
}

const usersOf = (licenses: readonly Pick<LicenseRow, 'client_id'>[]): string[] =>
  licenses.map((license) => license.client_id).filter((id) => id !== null)

/** Bans or unbans locked licenses; the ban of an added key takes back the time that it added. */
export async function changeBans(
  { tx, now }: Write,
  scope: OwnerScope,
  keys: readonly LicenseRow[],
  banned: boolean,
  reason?: string | null,
): Promise<void> {
  const ids = keys.map((key) => key.id)
  await repo.setBanned(tx, scope, ids, banned ? 1 : 0, reason)
  await movePauses(tx, scope, usersOf(keys), now)
  await (banned ? takeBack(tx, scope, keys, now) : giveBack(tx, scope, keys))
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
  const deleted = await repo.deleteByIds(tx, scope, ids)
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
    write.record('licenses.deletion_started', appId, { appId, resellerId })
    return repo.lastSeq(write.tx, actor)
  })
  let deleted = 0
  await inSlices(async (size) => {
    const slice = await ctx.tx(actor, async (write) => {
      const ids = await repo.listSlice(write.tx, actor, { ...filter, lastSeq }, size)
      const count = ids.length === 0 ? 0 : await deleteAndExpireUsers(write.tx, actor, ids, ctx.clock.now())
      if (count > 0) write.record('licenses.slice_deleted', appId, { count })
      return { found: ids.length, deleted: count }
    })
    deleted += slice.deleted
    return slice.found
  })
  await ctx.tx(actor, async (write) => {
    write.record('licenses.deletion_finished', appId, { count: deleted })
  })
  return deleted
}

async function change(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  apply: (write: Write, license: LicenseRow) => Promise<void>,
): Promise<License> {
  const row = await ctx.tx(actor, async (write) => {
    await lockWithUsersLicenses(write.tx, actor, [id])
    const [license] = await repo.lockLicenses(write.tx, actor, [id])
    if (!license) throw problem('not_found')
    await apply(write, license)
    return repo.findLicense(write.tx, actor, id)
  })
  if (!row) throw problem('not_found')
  return toLicense(row, ctx.clock.now())
}

const keyTaken = () => problem('key_taken')
const appGone = () => problem('not_found', { message: 'App not found' })

type Shown = Omit<repo.LicenseView, 'seq'>

const asNew = (license: repo.NewLicense, app: Pick<AppRow, 'name' | 'app_id'>): Shown => ({
  ...license,
  client_id: null,
  used: 0,
  used_at: null,
  banned: 0,
  added_ms: null,
  taken_ms: null,
  key_twin: 0,
  ban_reason: null,
  app_name: app.name,
  app_public_id: app.app_id,
  username: null,
  reseller_email: null,
})

export function toLicense(row: Shown, now: number): License {
  return {
    _id: row.id,
    key: row.key,
    app: { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
    status: licenseStatus({ banned: row.banned === 1, used: row.used === 1, expiresAt: row.expires_at }, now),
    used: row.used === 1,
    usedBy: row.client_id === null ? null : { _id: row.client_id, username: row.username ?? '' },
    usedAt: toIsoOrNull(row.used_at),
    added: row.added_ms !== null,
    banned: row.banned === 1,
    banReason: row.ban_reason,
    note: row.note,
    reseller: row.reseller_id === null ? null : { _id: row.reseller_id, email: row.reseller_email ?? '' },
    createdAt: toIso(row.created_at),
    expiresAt: toIso(row.expires_at),
  }
}
