import {
  type CustomerMailSettings,
  canonicalLocale,
  type endpoints,
  limits,
  type MailKind,
  type QueryOf,
} from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { toPagination } from '../../core/paging.ts'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { tagsOf } from '../app-mails/app-mails.rules.ts'
import { findAppId, getApp, lockApp } from '../apps/apps.access.ts'
import { findNamedCustomer, listShown } from '../customers/faces.access.ts'
import * as repo from './customer-mails.repo.ts'
import { looksForEnds, type Settings } from './customer-mails.rules.ts'
import { endOf, valuesOf } from './customer-mails.values.ts'

export async function getSettings(ctx: Ctx, scope: OwnerScope, app: string): Promise<CustomerMailSettings> {
  const { id } = await getApp(ctx.db, scope, app)
  return toShown(await repo.readSettings(ctx.db, id))
}

export type SettingsChange = { [Name in keyof CustomerMailSettings]?: CustomerMailSettings[Name] | undefined }

export function updateSettings(
  ctx: Ctx,
  actor: VendorActor,
  app: string,
  { ended, ...change }: SettingsChange,
): Promise<CustomerMailSettings> {
  return ctx.tx(actor, async (write) => {
    const { tx, now } = write
    const { id } = await getApp(tx, actor, app)
    if (!(await lockApp(tx, actor, id))) throw problem('not_found')
    const before = await repo.readSettings(tx, id)
    const changed = Object.entries(change).filter(([, value]) => value !== undefined)
    const settings: Settings = { ...before, ...Object.fromEntries(changed) }
    settings.endsSoonDays = settings.endsSoonDays.toSorted((a, b) => b - a)
    // What ended before is no news.
    if (ended !== undefined) settings.endedSince = ended ? (before.endedSince ?? now) : null
    await repo.saveSettings(tx, id, settings, looksForEnds(settings) ? now : null)
    const detail = { before: toShown(before), after: toShown(settings) }
    write.record('app.customer_mails_changed', id, detail, id)
    if (looksForEnds(settings)) write.queues.add('customer mails')
    return detail.after
  })
}

const toShown = ({ endedSince, ...settings }: Settings): CustomerMailSettings => ({
  ...settings,
  ended: endedSince !== null,
})

export type ListedFilter = QueryOf<typeof endpoints.customerMails.list>

export async function listMails(
  ctx: Ctx,
  actor: VendorActor,
  { app, customer, kind, state, ...page }: ListedFilter,
) {
  const { lists } = ctx.database
  const customerId = customer === undefined ? undefined : await findNamedCustomer(lists, actor, customer)
  if (customer !== undefined && customerId === undefined) throw problem('not_found')
  const filter = { appId: await findAppId(ctx.db, actor, app), customerId, kind, state }
  const { rows, total } = await repo.pageMails(ctx.database, actor, filter, page, limits.searchCountMax)
  const shown = await listShown(lists, actor, [...new Set(rows.map((row) => row.customer_id))])
  return {
    mails: rows.map((row) => ({
      _id: row.id,
      app: { _id: row.app_id, name: row.app, appId: row.public_app_id },
      kind: row.kind,
      customer: {
        _id: shown.get(row.customer_id)?.id ?? '',
        email: shown.get(row.customer_id)?.email ?? '',
      },
      license: row.found_id === null || row.key === null ? null : { _id: row.found_id, key: row.key },
      end: row.until === 0 ? null : toIso(row.until),
      days: row.days === 0 ? null : row.days,
      state: row.state,
      createdAt: toIso(row.created_at),
      doneAt: row.done_at === null ? null : toIso(row.done_at),
    })),
    pagination: toPagination(page, total, true),
  }
}

/** The newest mails to a customer, which the caller has found, as its page shows them. */
export async function listToldOf(ctx: Ctx, actor: VendorActor, customerId: string, most: number) {
  if (!actor.permissions.has('licenses:read')) return []
  const filter = { appId: undefined, customerId, kind: undefined, state: undefined }
  const { rows } = await repo.pageMails(ctx.database, actor, filter, { page: 1, limit: most }, most)
  return rows.map(({ id: _id, kind, state, created_at }) => ({
    ...{ _id, kind, state, order: null, license: null },
    createdAt: toIso(created_at),
  }))
}

export interface Sampled {
  app: string
  kind: MailKind
  license?: string | undefined
  locale?: string | undefined
}

/** What a mail of a kind would be filled in with for a license. */
export async function sampleMail(ctx: Ctx, actor: VendorActor, { app, kind, license, locale }: Sampled) {
  const found = await getApp(ctx.db, actor, app)
  const now = ctx.clock.now()
  const row = await repo.findSample(ctx.database.lists, found.id, { now, license })
  if (!row && license !== undefined) throw problem('not_found')
  const shown = row?.customer_id && (await listShown(ctx.db, actor, [row.customer_id])).get(row.customer_id)
  if (!row || !shown) return { sample: null }
  const tags = tagsOf((locale && canonicalLocale(locale)) || null)
  const told = { kind: kind === 'purchase' ? ('renewed' as const) : kind, until: endOf(row), license: row }
  const detail = { order: row.order_number ?? '1001', ...(kind === 'security' && securityExample) }
  const { name: appName, app_id: public_app_id, customer_page } = found
  const values = await valuesOf(
    ctx,
    ctx.db,
    {
      ...told,
      detail: JSON.stringify(detail),
      app: appName,
      name: actor.apps === null ? row.customer_name : null,
      public_app_id,
      customer_page,
    },
    tags,
  )
  return { sample: { license: { _id: row.id, key: row.key }, to: shown.email, values } }
}

const securityExample = {
  version: '1.0.1',
  summary: 'What was repaired.',
  link: 'https://example.com/security',
}
