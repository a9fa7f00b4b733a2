import { type ActivityEvent, type endpoints, limits, type MessageKey, type QueryOf } from '@keyward/contract'
import { type OwnerScope, system } from '../../core/actor.ts'
import { day, toEpochMs, toIso } from '../../core/clock.ts'
import { toPagination } from '../../core/paging.ts'
import { problem } from '../../core/problem.ts'
import { inSlices } from '../../db/index.ts'
import type { ActivityRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findAppId } from '../apps/apps.access.ts'
import { type NameOf, readNames } from '../customers/names.access.ts'
import * as repo from './activity.repo.ts'
import type { EventMatches } from './activity.search.ts'
import { gatheredDetail, type Share } from './activity.sources.ts'

export type { EventMatches }

export type ActivityQuery = QueryOf<typeof endpoints.activity.list>

/** What programs do that begins the use of a license. */
const activations = ['end_user.registered', 'license.redeemed']

const toKinds = (kind: string | undefined) =>
  kind === 'activations' ? activations : kind === undefined ? undefined : [kind]

/** Lists events; with `search`, those that it finds. */
export async function listActivity(ctx: Ctx, scope: OwnerScope, query: ActivityQuery, search?: EventMatches) {
  const app = await findAppId(ctx.db, scope, query.app)
  const { client } = query
  if (client !== undefined && !(await repo.hasEndUser(ctx.db, scope, client, app))) throw problem('not_found')
  const license = query.license === undefined ? [] : [await ofLicense(ctx, scope, query.license, app)]
  const filter = {
    app,
    client,
    kinds: toKinds(query.kind),
    code: query.code,
    among: [...license, ...(search ? [search] : [])],
    from: query.from === undefined ? undefined : startOf(query.from),
    to: query.to === undefined ? undefined : toEpochMs(query.to),
  }
  const { rows, total } = await repo.pageActivity(ctx.database, scope, filter, query, limits.searchCountMax)
  const nameOf = await readNames(
    ctx.db,
    scope,
    rows.map((row) => row.client_id),
  )
  return { events: rows.map((row) => toEvent(row, nameOf)), pagination: toPagination(query, total, true) }
}

async function ofLicense(
  ctx: Ctx,
  scope: OwnerScope,
  id: string,
  app: string | undefined,
): Promise<EventMatches> {
  const license = await repo.findLicense(ctx.db, scope, id, app)
  if (!license) throw problem('not_found')
  const { key, client_id: client } = license
  return { clients: client === null ? [] : [client], subjects: typedForms(key) }
}

/** A key as programs send it. */
const typedForms = (key: string): EventMatches['subjects'] =>
  [...new Set([key, key.replaceAll('-', '')].map((text) => text.toLowerCase()))].map((text) => ({
    text,
    isBeginning: false,
  }))

/** A bare date begins with its first moment here; elsewhere it means its last one. */
const startOf = (text: string): number => (text.length === 10 ? Date.parse(text) : toEpochMs(text))

/** A typed reference: in any case and with O, I and L for the digits that they look like. */
export const toReference = (typed: string): string =>
  typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')

/** An event by its reference. */
export async function getActivity(
  ctx: Ctx,
  scope: OwnerScope,
  typedReference: string,
): Promise<repo.ActivityView> {
  const found = await repo.findActivity(ctx.db, scope, toReference(typedReference))
  if (!found) throw problem('not_found')
  return found
}

export const isGathered = (row: Pick<repo.ActivityView, 'detail'>): boolean => row.detail === gatheredDetail

export const toEvent = (row: repo.ActivityView, nameOf: NameOf): ActivityEvent => ({
  reference: row.reference,
  kind: row.kind,
  app:
    row.app_name === null || row.app_public_id === null
      ? null
      : { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
  client:
    row.client_id === null || row.username === null
      ? null
      : { _id: row.client_id, username: row.username, name: nameOf(row.client_id, row.username) },
  call: row.call,
  code: row.code as MessageKey | null,
  subject: row.subject,
  address: row.address,
  times: row.times,
  gathered: isGathered(row),
  at: toIso(row.created_at),
  lastAt: toIso(row.last_at),
})

/** Why the programs of an end user were refused last. */
export interface LastRefusal {
  code: MessageKey
  reference: string
  /** The owner's reason. */
  reason: string | null
  at: number
  /** What a later check of the same call needs. */
  call: string | null
  address: string | null
  situation: unknown
}

/** The last refusals of end users since a time, by end user. */
export async function listLastRefusals(
  db: Ctx['db'],
  scope: OwnerScope,
  clientIds: readonly string[],
  since: number,
): Promise<Map<string, LastRefusal>> {
  const rows = await repo.listLastRefusals(db, scope, clientIds, since)
  return new Map(rows.flatMap((row) => (row.client_id === null ? [] : [[row.client_id, toRefusal(row)]])))
}

const toRefusal = ({ code, reference, detail, last_at: at, call, address }: ActivityRow): LastRefusal => {
  const { situation } = JSON.parse(detail ?? '{}') as { situation?: { reason?: string | null } }
  const reason = situation?.reason ?? null
  return { code: code as MessageKey, reference, reason, at, call, address, situation }
}

/** The last refusals of keys since a time, by key. */
export async function listRefusalsOfKeys(
  db: Ctx['db'],
  scope: OwnerScope,
  keys: readonly string[],
  since: number,
): Promise<Map<string, LastRefusal>> {
  if (keys.length === 0) return new Map()
  const keyOf = new Map(keys.flatMap((key) => typedForms(key).map(({ text }) => [text, key])))
  const subjects = [...keyOf.keys()].map((text) => ({ text, isBeginning: false }))
  const rows = await repo.listRefusalsOf(db, scope, { clients: [], subjects }, since)
  const last = new Map<string, LastRefusal>()
  for (const row of rows) {
    const key = keyOf.get(row.subject?.toLowerCase() ?? '')
    if (key !== undefined && (last.get(key)?.at ?? 0) <= row.last_at) last.set(key, toRefusal(row))
  }
  return last
}

/** Deletes events of deleted apps, those older than their app keeps, and the oldest ones of shares with too many. */
export async function tidyActivity(
  ctx: Pick<Ctx, 'clock' | 'db' | 'tx'>,
  most: Record<Share, number> = limits.activityRows,
): Promise<void> {
  const now = ctx.clock.now()
  for (const { n, activity_days: days, ...share } of await repo.listShares(ctx.db)) {
    const remove = (before: number | undefined) =>
      inSlices(ctx, system, async ({ tx }, size) => ({
        found: await repo.deleteOldest(tx, share, before, size),
      }))
    if (days === null) {
      await remove(undefined)
      await ctx.tx(system, ({ tx }) => repo.deleteShare(tx, share))
      continue
    }
    const excess = n - (await remove(now - days * day)) - most[share.share]
    if (excess <= 0) continue
    await inSlices(ctx, system, async ({ tx }, size, left = excess) => {
      const found = await repo.deleteOldest(tx, share, undefined, Math.min(size, left))
      return { found, mark: left - found }
    })
  }
}
