import { type BodyOf, type endpoints, type QueryOf, type Reseller, unlimited } from '@keyward/contract'
import {
  type OfOwner,
  type OwnerScope,
  type ResellerActor,
  sees,
  type VendorActor,
} from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { newId, normalizeEmail, normalizeEmailPart } from '../../core/ids.ts'
import { callerOf } from '../../core/networks/caller.ts'
import { toPagination } from '../../core/paging.ts'
import { checkPassword } from '../../core/passwords/password-policy.ts'
import { problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import { inSlices, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findAppId, getApp, reserveLicenses } from '../apps/apps.access.ts'
import { getLimits } from '../owners/owners.service.ts'
import { revokeResets } from '../password-resets/password-resets.access.ts'
import { removeFactors } from '../second-factors/second-factors.access.ts'
import { listResellerSessions } from '../sessions/account-sessions.service.ts'
import { endSessions, findResellerSession } from '../sessions/sessions.service.ts'
import * as access from './resellers.access.ts'
import * as repo from './resellers.repo.ts'
import { remainingLicenses } from './resellers.rules.ts'

export type ResellerQuery = QueryOf<typeof endpoints.resellers.list>

export async function listResellers(ctx: Ctx, scope: OwnerScope, query: ResellerQuery) {
  const appId = await findAppId(ctx.db, scope, query.app)
  const search = normalizeEmailPart(query.search ?? '') || undefined
  const filter = { appId, active: query.active, search }
  const { rows, total } = await repo.pageResellers(ctx.database, scope, filter, query)
  return {
    resellers: rows.map(toReseller),
    pagination: toPagination(query, total, false),
    stats: await repo.sumResellers(ctx.database, scope),
  }
}

export async function getReseller(ctx: Ctx, scope: OwnerScope, id: string): Promise<Reseller> {
  const reseller = await access.findReseller(ctx.db, scope, id)
  if (!reseller) throw problem('not_found')
  return toReseller(reseller)
}

/** With its open sessions. Their addresses are for those who see its sign-ins, which have no app, in the audit log. */
export async function getResellerPage(ctx: Ctx, actor: VendorActor, id: string) {
  const reseller = await getReseller(ctx, actor, id)
  const seesAddresses = actor.permissions.has('audit:read') && sees(actor, null)
  return { reseller, sessions: await listResellerSessions(ctx, id, seesAddresses) }
}

export type NewReseller = BodyOf<typeof endpoints.resellers.create>

/** The only response that contains the password. */
export async function createReseller(ctx: Ctx, actor: VendorActor, reseller: NewReseller) {
  checkPassword(ctx, 'password', reseller.password)
  const { maxResellers } = await getLimits(ctx, actor)
  if (maxResellers === 0) throw planLimit(maxResellers)
  const app = await getApp(ctx.db, actor, reseller.app_id)
  const emailNormalized = normalizeEmail(reseller.email)
  if (await access.findByEmail(ctx.db, emailNormalized)) throw emailTaken()
  const passwordHash = await ctx.passwords.hash(reseller.password, callerOf(actor))
  const id = newId('res')
  const now = ctx.clock.now()
  await ctx.tx(
    actor,
    async (write) => {
      const { tx } = write
      await reserveReseller(tx, actor, maxResellers)
      if (!(await reserveLicenses(tx, actor, app.id, 0, unlimited, now))) throw problem('not_found')
      await repo.insertReseller(tx, {
        id,
        owner_id: actor.ownerId,
        app_id: app.id,
        email: reseller.email,
        email_normalized: emailNormalized,
        password_hash: passwordHash,
        allowed_license_keys: reseller.allowed_license_keys,
        created_at: now,
      })
      const licenseLimit = reseller.allowed_license_keys
      write.record('reseller.created', id, { appId: app.id, licenseLimit }, app.id)
    },
    { onTaken: emailTaken },
  )
  return {
    _id: id,
    email: reseller.email,
    password: reseller.password,
    app_id: { _id: app.id, name: app.name },
    allowed_license_keys: reseller.allowed_license_keys,
  }
}

export type ResellerUpdate = BodyOf<typeof endpoints.resellers.update>

type SeenUpdate = ResellerUpdate & { seen?: Pick<ResellerUpdate, 'licenseLimit'> | undefined }

/** Accepts a limit below the existing licenses: the reseller cannot create more until some are deleted. */
export async function updateReseller(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  update: SeenUpdate,
): Promise<Reseller> {
  const row = await ctx.tx(actor, (write) => change(write, actor, id, update))
  if (!row) throw problem('not_found')
  return toReseller(row)
}

async function change(
  write: WriteTransaction,
  actor: VendorActor,
  id: string,
  { seen, ...update }: SeenUpdate,
): Promise<access.ResellerView | undefined> {
  const columns: repo.ResellerChange = {
    ...(update.licenseLimit === undefined ? {} : { allowed_license_keys: update.licenseLimit }),
    ...(update.active === undefined ? {} : { active: update.active ? 1 : 0 }),
  }
  const { tx } = write
  const before = await repo.lockReseller(tx, actor, id)
  if (!before) throw problem('not_found')
  if (seen && hasChanged({ licenseLimit: before.allowed_license_keys }, seen, { ...update })) {
    throw problem('reseller_changed')
  }
  // Its licenses would be made by whoever chose its password.
  const isRaised = (update.licenseLimit ?? 0) > before.allowed_license_keys
  if (isRaised && !actor.permissions.has('licenses:write')) throw problem('permission_missing')
  if (!(await repo.updateReseller(tx, actor, id, columns))) throw problem('not_found')
  if (update.active === false) {
    await endSessions(tx, holderOf(id))
    await revokeResets(tx, 'reseller', id)
  }
  const after = { licenseLimit: update.licenseLimit, active: update.active }
  const changed = {
    ...(after.licenseLimit === undefined ? {} : { licenseLimit: before.allowed_license_keys }),
    ...(after.active === undefined ? {} : { active: before.active === 1 }),
  }
  write.record('reseller.updated', id, { before: changed, after }, before.app_id)
  return access.findReseller(tx, actor, id)
}

/**
 * Deletes a reseller; its licenses and their end users stay with the owner. Many are released in slices, while the
 * reseller can create no more.
 */
export async function deleteReseller(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  const remove = async (write: WriteTransaction): Promise<void> => {
    await repo.releaseLicenses(write.tx, actor, id, releasedAtOnce)
    const deleted = await repo.deleteReseller(write.tx, actor, id)
    if (!deleted) throw problem('not_found')
    write.record('reseller.deleted', id, { email: deleted.email }, deleted.app_id)
  }
  const isRemoved = await ctx.tx(actor, async (write) => {
    const reseller = await access.findReseller(write.tx, actor, id)
    if (!reseller) throw problem('not_found')
    const isSmall = reseller.license_count <= releasedAtOnce
    await (isSmall ? remove(write) : change(write, actor, id, { active: false }))
    return isSmall
  })
  if (isRemoved) return
  await inSlices(ctx, actor, async ({ tx }, size) => ({
    found: await repo.releaseLicenses(tx, actor, id, size),
  }))
  await ctx.tx(actor, remove)
}

const releasedAtOnce = 100

/** Signs a reseller out everywhere. */
export async function endResellerSessions(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const reseller = await repo.lockReseller(write.tx, actor, id)
    if (!reseller) throw problem('not_found')
    const ended = await endSessions(write.tx, holderOf(id))
    // Nothing else bounds how often it is called.
    if (ended > 0) write.record('reseller.sessions_ended', id, {}, reseller.app_id)
  })
}

/**
 * Reserves licenses within the quota of a reseller, for the caller's transaction to insert. The caller has locked the
 * app, as those who delete licenses do first.
 */
export async function reserveForReseller(
  tx: Tx,
  scope: OwnerScope,
  { id, appId }: { id: string; appId: string },
  count: number,
): Promise<access.ResellerView> {
  const find = async () => {
    const found = await access.findReseller(tx, scope, id)
    if (found?.app_id !== appId) throw problem('not_found', { message: 'Reseller not found' })
    return found
  }
  const reseller = await find()
  if (await access.reserveQuota(tx, id, count)) return reseller
  const current = await find()
  if (current.active === 0) throw problem('reseller_suspended')
  throw quotaReached(remainingLicenses(current))
}

/** Removes all second factors of an account and ends its sessions. */
export async function resetSecondFactor(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const reseller = await repo.lockReseller(write.tx, actor, id)
    if (!reseller) throw problem('not_found')
    await removeFactors(write.tx, holderOf(id))
    await endSessions(write.tx, holderOf(id))
    write.record('reseller.second_factors_removed', id, {}, reseller.app_id)
  })
}

/** Resolves a token to its reseller; undefined if suspended. */
export async function authenticateReseller(
  ctx: Ctx,
  token: string,
  address: string,
): Promise<ResellerActor | undefined> {
  const session = await findResellerSession(ctx, token, address)
  const reseller = session && (await access.findById(ctx.db, session.resellerId))
  if (!reseller || reseller.active === 0 || reseller.vendor_disabled_at !== null) return undefined
  const { id: sessionId, confirmedAt, hasFactor } = session
  return { ...toActor(reseller, address), sessionId, confirmedAt, hasFactor }
}

/** A reseller as the actor of a new session; refused while the operator has disabled its vendor. */
export function toActor(
  {
    id,
    owner_id,
    app_id,
    vendor_disabled_at,
  }: Pick<access.ResellerView, 'id' | 'owner_id' | 'app_id' | 'vendor_disabled_at'>,
  address: string,
): ResellerActor {
  if (vendor_disabled_at !== null) throw problem('vendor_disabled')
  return {
    ...{ kind: 'reseller', ownerId: owner_id, apps: null, resellerId: id, appId: app_id },
    ...{ sessionId: newId('ses'), address },
  }
}

/** A reseller as the holder of its sessions. */
export const holderOf = (resellerId: string) => ({ kind: 'reseller', id: resellerId }) as const

async function reserveReseller(tx: Tx, scope: OfOwner, max: number): Promise<void> {
  if (max === unlimited) return
  await repo.lockOwner(tx, scope)
  const count = await repo.countResellers(tx, scope)
  if (count >= max) throw planLimit(max)
}

export const planLimit = (max: number) =>
  problem('plan_limit_reached', {
    message:
      max === 0
        ? 'Resellers are only available for premium subscribers'
        : `Your plan allows ${max} resellers`,
  })

const quotaReached = (remaining: number) => {
  const message =
    remaining === 0
      ? "The reseller's license quota is used up"
      : `The reseller's quota has room for ${remaining} more license(s)`
  return problem('quota_reached', { message, issues: [{ path: 'count', message }] })
}

const emailTaken = () => problem('email_taken', { message: 'A reseller with this email already exists' })

const toReseller = (row: access.ResellerView): Reseller => ({
  _id: row.id,
  email: row.email,
  app_id: { _id: row.app_id, name: row.app_name },
  allowed_license_keys: row.allowed_license_keys,
  created_licenses: row.license_count,
  remaining_licenses: remainingLicenses(row),
  createdAt: toIso(row.created_at),
  active: row.active === 1,
})
