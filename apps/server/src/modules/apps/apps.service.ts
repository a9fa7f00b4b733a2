import { type App, type BodyOf, type endpoints, limits } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newAppId, newAppSecret, newId, normalizeName } from '../../core/ids.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { invalid, problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import { newSigningKey } from '../../core/signing/signing.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { AppRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getLimits } from '../owners/owners.service.ts'
import { isOlder, newestOf } from '../releases/catalog.rules.ts'
import { findApp, getApp } from './apps.access.ts'
import * as repo from './apps.repo.ts'
import { toFlag, toSettingColumns, toSettings } from './apps.settings.ts'

export type { AppRow }

export async function listApps(ctx: Ctx, actor: VendorActor, query: Page & { search?: string | undefined }) {
  const search = normalizeName(query.search ?? '') || undefined
  const { rows, total } = await repo.pageApps(ctx.database, actor, { ...query, search })
  return {
    apps: rows.map((row) => toApp(ctx, actor, row)),
    count: search === undefined ? total : await repo.countApps(ctx.db, actor),
    pagination: toPagination(query, total, false),
  }
}

export const readApp = async (ctx: Ctx, actor: VendorActor, idOrAppId: string): Promise<App> =>
  toApp(ctx, actor, await getApp(ctx.db, actor, idOrAppId))

export async function createApp(ctx: Ctx, actor: VendorActor, name: string): Promise<App> {
  const { maxApps } = await getLimits(ctx, actor)
  const id = newId('app')
  const secret = newAppSecret()
  const key = newSigningKey()
  const now = ctx.clock.now()
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    if (!(await repo.reserveApp(tx, actor, maxApps))) {
      throw problem('plan_limit_reached', { message: `Your plan allows ${maxApps} apps` })
    }
    const made = await repo.insertApp(tx, {
      id,
      owner_id: actor.ownerId,
      app_id: newAppId(),
      name,
      ...sealSecret(ctx, id, secret),
      signing_kid: key.kid,
      signing_public: key.x,
      signing_sealed: ctx.seal.seal(key.privateKey, signingContext(id)),
      version: limits.firstAppVersion,
      remember_days: limits.rememberDaysDefault,
      created_at: now,
    })
    write.record('app.created', id, { name }, id)
    return toApp(ctx, actor, made)
  })
}

export type AppUpdate = BodyOf<typeof endpoints.apps.update>

/** The values that the caller saw. */
export type AppSeen = Omit<AppUpdate, 'paused'>

export async function updateApp(
  ctx: Ctx,
  actor: VendorActor,
  idOrAppId: string,
  { seen, ...update }: AppUpdate & { seen?: AppSeen | undefined },
): Promise<App> {
  const change: repo.AppChange = {
    name: update.name,
    version: update.version,
    paused: toFlag(update.paused),
    ...toSettingColumns(update.settings ?? {}),
  }
  // Nodes keep the allowed networks in memory together with the block list.
  if (change.vpn_allowed !== undefined) change.block_version = repo.nextBlockVersion
  const changed = Object.entries(change).filter(([, value]) => value !== undefined)
  if (changed.length === 0) return readApp(ctx, actor, idOrAppId)
  return changeApp(ctx, actor, idOrAppId, Object.fromEntries(changed), (write, before, after) => {
    if (seen && hasChanged(toFields(before), flat(seen), pickPresent(toFields(after), flat(update)))) {
      throw problem('app_changed')
    }
    if (before.block_vpn === 0 && after.block_vpn === 1 && !ctx.vpn.isLoaded) {
      throw invalid('settings.blockVpn', 'This server has no list of the addresses of VPN providers')
    }
    const names = Object.keys(toFields(after)).filter(
      (name) => JSON.stringify(toFields(before)[name]) !== JSON.stringify(toFields(after)[name]),
    )
    const pick = (row: AppRow) => Object.fromEntries(names.map((name) => [name, toFields(row)[name]]))
    write.record('app.updated', after.id, { before: pick(before), after: pick(after) }, after.id)
  })
}

/** Raises the version of an app, which the transaction has locked, if `version` is newer. */
export async function raiseVersion(
  write: WriteTransaction,
  actor: VendorActor,
  id: string,
  version: string,
): Promise<void> {
  const app = await findApp(write.tx, actor, id)
  if (app && isOlder(app.version, version)) await setVersion(write, actor, app, version)
}

/** Lowers the version of an app, which the transaction has locked, from `current` to the newest older one of `others`. */
export async function lowerVersion(
  write: WriteTransaction,
  actor: VendorActor,
  id: string,
  { current, others }: { current: string; others: readonly string[] },
): Promise<void> {
  const app = await findApp(write.tx, actor, id)
  if (app?.version !== current) return
  const newest = newestOf(others.filter((version) => isOlder(version, current)))
  if (newest !== undefined) await setVersion(write, actor, app, newest)
}

async function setVersion(
  write: WriteTransaction,
  actor: VendorActor,
  { id, version: before }: AppRow,
  version: string,
): Promise<void> {
  await repo.updateApp(write.tx, actor, id, { version })
  write.record('app.updated', id, { before: { version: before }, after: { version } }, id)
}

/** Replaces the secret; from the commit on, the old one and all sessions opened with it are rejected. */
export async function rotateSecret(ctx: Ctx, actor: VendorActor, idOrAppId: string): Promise<App> {
  const { id } = await getApp(ctx.db, actor, idOrAppId)
  const change = { ...sealSecret(ctx, id, newAppSecret()), secret_version: repo.nextSecretVersion }
  return changeApp(ctx, actor, id, change, (write) => write.record('app.secret_rotated', id, {}, id))
}

async function changeApp(
  ctx: Ctx,
  actor: VendorActor,
  idOrAppId: string,
  change: repo.AppChange,
  record: (write: WriteTransaction, before: AppRow, after: AppRow) => void,
): Promise<App> {
  const row = await ctx.tx(actor, async (write) => {
    const { id } = await getApp(write.tx, actor, idOrAppId)
    const before = await repo.lockApp(write.tx, actor, id)
    const updated = await repo.updateApp(write.tx, actor, id, change)
    if (!updated) throw problem('not_found')
    record(write, before, updated)
    return updated
  })
  return toApp(ctx, actor, row)
}

export const signingContext = (id: string): string => `apps.signing:${id}`
export const secretContext = (id: string): string => `apps.secret:${id}`

const sealSecret = (ctx: Ctx, id: string, secret: string) => ({
  secret_sealed: ctx.seal.seal(secret, secretContext(id)),
  secret_hash: sha256(secret),
})

function toApp(ctx: Ctx, { permissions }: VendorActor, row: AppRow): App {
  const canRead = permissions.has('secrets:read')
  return {
    _id: row.id,
    name: row.name,
    appId: row.app_id,
    appSecret: canRead ? ctx.seal.open(row.secret_sealed, secretContext(row.id)) : null,
    version: row.version,
    paused: row.paused === 1,
    createdAt: toIso(row.created_at),
    sdklessInitAt: toIsoOrNull(row.sdkless_init_at),
    settings: toSettings(row),
  }
}

/** The fields that an owner can change, for the audit record. */
const toFields = (row: AppRow): Record<string, unknown> => ({
  name: row.name,
  version: row.version,
  paused: row.paused === 1,
  ...toSettings(row),
})

/** The fields of an update by the names that `toFields` uses. */
const flat = ({ settings, ...rest }: AppUpdate): Record<string, unknown> => ({ ...rest, ...settings })

const pickPresent = (fields: Record<string, unknown>, changes: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => changes[name] !== undefined))
