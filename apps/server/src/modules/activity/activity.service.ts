import { type ActivityEvent, limits, type MessageKey } from '@keyward/contract'
import { type OwnerScope, system } from '../../core/actor.ts'
import { day, toEpochMs, toIso } from '../../core/clock.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { problem } from '../../core/problem.ts'
import { inSlices } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findAppId } from '../apps/apps.service.ts'
import * as repo from './activity.repo.ts'
import { gatheredDetail, type Share } from './activity.sources.ts'

export interface ActivityQuery extends Page {
  app?: string | undefined
  client?: string | undefined
  code?: MessageKey | 'any' | undefined
  from?: string | undefined
  to?: string | undefined
}

export async function listActivity(ctx: Ctx, scope: OwnerScope, query: ActivityQuery) {
  const app = await findAppId(ctx.db, scope, query.app)
  const { client } = query
  if (client !== undefined && !(await repo.hasEndUser(ctx.db, scope, client, app))) throw problem('not_found')
  const filter = {
    app,
    client,
    code: query.code,
    from: query.from === undefined ? undefined : startOf(query.from),
    to: query.to === undefined ? undefined : toEpochMs(query.to),
  }
  const { rows, total } = await repo.pageActivity(ctx.database, scope, filter, query, limits.searchCountMax)
  return { events: rows.map(toEvent), pagination: toPagination(query, total, true) }
}

/** A bare date begins with its first moment here; elsewhere it means its last one. */
const startOf = (text: string): number => (text.length === 10 ? Date.parse(text) : toEpochMs(text))

/** An event by its reference, in any case and with O, I and L for the digits that they look like. */
export async function getActivity(
  ctx: Ctx,
  scope: OwnerScope,
  typedReference: string,
): Promise<repo.ActivityView> {
  const reference = typedReference
    .toUpperCase()
    .replace(/[\s-]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
  const found = await repo.findActivity(ctx.db, scope, reference)
  if (!found) throw problem('not_found')
  return found
}

export const isGathered = (row: Pick<repo.ActivityView, 'detail'>): boolean => row.detail === gatheredDetail

export const toEvent = (row: repo.ActivityView): ActivityEvent => ({
  reference: row.reference,
  kind: row.kind,
  app:
    row.app_name === null || row.app_public_id === null
      ? null
      : { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
  client:
    row.client_id === null || row.username === null ? null : { _id: row.client_id, username: row.username },
  call: row.call,
  code: row.code as MessageKey | null,
  subject: row.subject,
  address: row.address,
  times: row.times,
  gathered: isGathered(row),
  at: toIso(row.created_at),
  lastAt: toIso(row.last_at),
})

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
