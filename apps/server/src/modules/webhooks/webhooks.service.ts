import { type BodyOf, type endpoints, limits, type Webhook } from '@keyward/contract'
import { type OwnerScope, system, type VendorActor } from '../../core/actor.ts'
import { hour, toIso, toIsoOrNull } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { invalid, problem } from '../../core/problem.ts'
import { type Db, inSlices, type Tx } from '../../db/index.ts'
import type { WebhookRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Outbound } from '../../service/outbound/outbound.ts'
import { lockApps } from '../apps/apps.access.ts'
import { lockOwner } from '../owners/owners.service.ts'
import { giveUp } from './deliveries.repo.ts'
import { requireKeeper, toKeeper, toMaker } from './webhooks.makers.ts'
import * as repo from './webhooks.repo.ts'
import { newWebhookSecret } from './webhooks.signature.ts'

/** What the calls about webhooks need. */
export interface WebhookParts {
  ctx: Ctx
  outbound: Pick<Outbound, 'findFault'>
}

export async function listWebhooks(ctx: Ctx, actor: VendorActor): Promise<Webhook[]> {
  const rows = await repo.listWebhooks(ctx.db, actor)
  return rows.filter((row) => isVisible(actor, row)).map((row) => toWebhook(ctx, actor, row))
}

export type NewWebhook = BodyOf<typeof endpoints.webhooks.create>

/** Returns the secret too, which nothing returns again. */
export async function createWebhook(
  { ctx, outbound }: WebhookParts,
  actor: VendorActor,
  wanted: NewWebhook,
): Promise<{ webhook: Webhook; secret?: string }> {
  const origin = originOf(outbound, wanted.url)
  const { format = 'standard' } = wanted
  const id = newId('whk')
  const secret = format === 'standard' ? newWebhookSecret() : undefined
  const row = await ctx.tx(actor, async (write) => {
    await lockOwner(write.tx, actor)
    const events = inOneForm(wanted.events)
    const apps = await toApps(write.tx, actor, wanted.apps)
    const row = {
      id,
      owner_id: actor.ownerId,
      url_sealed: ctx.seal.seal(wanted.url, urlContext(id)),
      origin,
      secret_sealed: secret === undefined ? null : ctx.seal.seal(secret, secretContext(id)),
      events: JSON.stringify(events),
      apps: apps && JSON.stringify(apps),
      format,
      ...toMaker(actor),
      ...toKeeper(actor),
      created_at: write.now,
    }
    if (!(await repo.insertWebhook(write.tx, row))) throw problem('webhooks_full')
    write.record('webhook.created', id, { origin, events, apps, format })
    return { ...row, active: 1, failing_since: null, pause_reason: null, off_with_vendor: 0 } as const
  })
  const webhook = toWebhook(ctx, actor, row)
  return secret === undefined ? { webhook } : { webhook, secret }
}

export type WebhookChange = BodyOf<typeof endpoints.webhooks.update>

/** The actor becomes the maker: otherwise it could point a webhook that reads more than itself at its own server. */
export async function updateWebhook(
  { ctx, outbound }: WebhookParts,
  actor: VendorActor,
  id: string,
  wanted: WebhookChange,
): Promise<Webhook> {
  const { url, active } = wanted
  const origin = url === undefined ? undefined : originOf(outbound, url)
  const row = await ctx.tx(actor, async (write) => {
    const { tx } = write
    await lockOwner(tx, actor)
    const before = await getWebhook(tx, actor, id, repo.lockWebhook)
    if (url !== undefined && url !== ctx.seal.open(before.url_sealed, urlContext(id)))
      requireKeeper(actor, before)
    const events = wanted.events && JSON.stringify(inOneForm(wanted.events))
    const apps = wanted.apps === undefined ? undefined : await toApps(tx, actor, wanted.apps)
    const change = {
      ...(url === undefined ? {} : { url_sealed: ctx.seal.seal(url, urlContext(id)), origin }),
      ...(events === undefined ? {} : { events }),
      ...(apps === undefined ? {} : { apps: apps && JSON.stringify(apps) }),
      ...(active === undefined ? {} : { active: active ? (1 as const) : (0 as const), pause_reason: null }),
      // It gets its three days again.
      ...(active === true ? { failing_since: null } : {}),
      ...toMaker(actor),
    }
    await repo.updateWebhook(tx, id, change)
    const after = { ...before, ...change, origin: origin ?? before.origin }
    write.record('webhook.updated', id, { before: toRecorded(before), after: toRecorded(after) })
    return after
  })
  if (active === false) await giveUpAll(ctx, id)
  return toWebhook(ctx, actor, row)
}

/** Its row and its log are deleted later, in parts. */
export async function deleteWebhook(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const { origin } = await getWebhook(write.tx, actor, id, repo.lockWebhook)
    await repo.updateWebhook(write.tx, id, { deleted_at: write.now, active: 0 })
    write.record('webhook.deleted', id, { origin })
  })
}

export async function rotateSecret(ctx: Ctx, actor: VendorActor, id: string): Promise<string> {
  const secret = newWebhookSecret()
  await ctx.tx(actor, async (write) => {
    const before = await getWebhook(write.tx, actor, id, repo.lockWebhook)
    requireKeeper(actor, before)
    const { secret_sealed } = before
    if (secret_sealed === null) throw problem('webhook_unsigned')
    await repo.updateWebhook(write.tx, id, {
      secret_sealed: ctx.seal.seal(secret, secretContext(id)),
      previous_sealed: secret_sealed,
      previous_until: write.now + limits.webhookRotationHours * hour,
      ...toKeeper(actor),
    })
    write.record('webhook.secret_rotated', id, {})
  })
  return secret
}

/** A webhook that the actor sees; a foreign one is like a missing one. */
export async function getWebhook<Handle extends Db>(
  db: Handle,
  actor: VendorActor,
  id: string,
  find: (db: Handle, scope: OwnerScope, id: string) => Promise<WebhookRow | undefined> = repo.findWebhook,
): Promise<WebhookRow> {
  const row = await find(db, actor, id)
  if (!row || !isVisible(actor, row)) throw problem('not_found')
  return row
}

/** What waits for a paused webhook is given up: it collects nothing either. */
export async function giveUpAll(ctx: Pick<Ctx, 'db' | 'tx'>, id: string): Promise<void> {
  await inSlices(ctx, system, async ({ tx, now }, size) => {
    // Another caller may have taken a part of the slice, which is no end.
    const isDone = (await giveUp(tx, id, { now, count: size })) === 0
    return { found: isDone ? 0 : size }
  })
}

/** Where a webhook sends to, and what signs: the secret before a rotation does, too, for a day. */
export function readTarget({ seal }: Pick<Ctx, 'seal'>, row: WebhookRow, now: number) {
  const sealed = [row.secret_sealed, row.previous_until > now ? row.previous_sealed : null]
  return {
    url: seal.open(row.url_sealed, urlContext(row.id)),
    format: row.format,
    secrets: sealed.flatMap((one) => (one === null ? [] : [seal.open(one, secretContext(row.id))])),
  }
}

/** Callers with some apps see the webhooks of these apps. */
export function isVisible({ apps }: OwnerScope, row: Pick<WebhookRow, 'apps'>): boolean {
  if (apps === null) return true
  return appsOf(row)?.every((app) => apps.has(app)) ?? false
}

export const appsOf = ({ apps }: Pick<WebhookRow, 'apps'>): string[] | null =>
  apps === null ? null : JSON.parse(apps)

export const urlContext = (id: string) => `webhook url ${id}`
export const secretContext = (id: string) => `webhook secret ${id}`

/** `*` contains all others. */
const inOneForm = (events: readonly string[]): string[] => (events.includes('*') ? ['*'] : [...events])

function originOf(outbound: WebhookParts['outbound'], url: string): string {
  const fault = outbound.findFault(url)
  if (fault !== undefined) throw invalid('url', fault)
  return new URL(url).origin
}

/** Null for all apps: those that a caller with some apps sees. */
async function toApps(
  tx: Tx,
  actor: VendorActor,
  named: readonly string[] | null | undefined,
): Promise<string[] | null> {
  const wanted = named ?? (actor.apps && [...actor.apps])
  if (wanted === null) return null
  const apps = wanted.length === 0 ? undefined : await lockApps(tx, actor, wanted)
  if (!apps) throw problem('not_found')
  return apps
}

const toRecorded = (row: Pick<WebhookRow, 'origin' | 'events' | 'apps' | 'active'>) => ({
  origin: row.origin,
  events: JSON.parse(row.events),
  apps: appsOf(row),
  active: row.active === 1,
})

type ShownRow = Omit<WebhookRow, 'previous_sealed' | 'previous_until' | 'deleted_at'>

const toWebhook = ({ seal }: Ctx, actor: VendorActor, row: ShownRow): Webhook => ({
  _id: row.id,
  url: actor.permissions.has('secrets:read') ? seal.open(row.url_sealed, urlContext(row.id)) : row.origin,
  events: JSON.parse(row.events),
  apps: appsOf(row),
  format: row.format,
  active: row.active === 1,
  pauseReason: row.active === 1 ? null : row.pause_reason,
  failingSince: toIsoOrNull(row.failing_since),
  createdAt: toIso(row.created_at),
})
