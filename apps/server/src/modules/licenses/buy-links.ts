import { fillLink, type Links } from '@keyward/contract'
import { sql } from 'kysely'
import { type Db, prepared } from '../../db/index.ts'
import type { AppRow, LicenseTypeRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { upgradesOf } from '../license-types/license-types.rules.ts'
import { toBuyReference } from './licenses.rules.ts'

/** What an app says of links before any license is read. */
export interface LinkingApp {
  id: string
  buyUrl: string | null
  /** Whether one of its license types has links. */
  hasTypeLinks: boolean
}

type LinkedType = Pick<LicenseTypeRow, 'buy_url' | 'renew_url' | 'upgrades'>

/** The license that links are about: this one, or the first one of an end user. */
export type Linked = { licenseId: string } | { clientId: string }

export const toLinkingApp = (row: Pick<AppRow, 'id' | 'buy_url' | 'type_links'>): LinkingApp => ({
  id: row.id,
  buyUrl: row.buy_url,
  hasTypeLinks: row.type_links === 1,
})

/** The links of a license with their reference filled in; without a license, where to buy one. */
export function toLinks(
  { seal }: Pick<Ctx, 'seal'>,
  { buyUrl }: Pick<LinkingApp, 'buyUrl'>,
  license?: { id: string; type: LinkedType | undefined },
): Links {
  const reference = license ? toBuyReference(seal, license.id) : null
  const fill = (link: string | null | undefined) => (link ? fillLink(link, reference) : null)
  const type = license?.type
  return {
    buy: fill(type?.buy_url ?? buyUrl),
    renew: fill(type?.renew_url),
    upgrades: type ? upgradesOf(type).map(({ name, url }) => ({ name, url: fillLink(url, reference) })) : [],
  }
}

/** Like `toLinks`; reads nothing for an app without links. */
export async function readLinks(
  ctx: Pick<Ctx, 'seal' | 'database'>,
  app: LinkingApp,
  linked: Linked,
): Promise<Links> {
  if (app.buyUrl === null && !app.hasTypeLinks) return toLinks(ctx, app)
  const { licenseId = null, clientId = null } = { licenseId: undefined, clientId: undefined, ...linked }
  const row = await linkedLicense.first(ctx.database.db, { appId: app.id, licenseId, clientId })
  if (!row) return toLinks(ctx, app)
  const { id, buy_url, renew_url, upgrades } = row
  return toLinks(ctx, app, { id, type: { buy_url, renew_url, upgrades: upgrades ?? '[]' } })
}

interface LinkedIds {
  appId: string
  licenseId: string | null
  clientId: string | null
}

const linkedLicense = prepared((db: Db, { appId, licenseId, clientId }: LinkedIds) =>
  db
    .selectFrom('licenses as l')
    .leftJoin('license_types as t', 't.id', 'l.type_id')
    .select(['l.id', 't.buy_url', 't.renew_url', 't.upgrades'])
    .where('l.app_id', '=', appId)
    .where(
      'l.id',
      '=',
      sql<string>`coalesce(${licenseId}, (select c.license_id from clients c where c.id = ${clientId}))`,
    ),
)
