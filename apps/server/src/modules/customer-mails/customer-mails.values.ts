import { fillLink } from '@keyward/contract'
import type { Db } from '../../db/index.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { dayInWords } from '../app-mails/app-mails.rules.ts'
import { pageOf } from '../app-mails/buyer-mails.ts'
import { updatesUntil } from '../entitlements/terms.rules.ts'
import { toBuyReference } from '../licenses/licenses.rules.ts'
import type * as repo from './customer-mails.repo.ts'

/** What a mail is about. */
type Told = Pick<
  repo.MailView,
  'kind' | 'until' | 'detail' | 'app' | 'name' | 'public_app_id' | 'customer_page' | 'license'
>

/** What a mail to a customer is filled in with. */
export async function valuesOf(
  { config, seal }: Pick<Ctx, 'config' | 'seal'>,
  db: Db,
  told: Told,
  tags: readonly string[],
) {
  const { order = null, version = null, summary = null, link = null } = JSON.parse(told.detail)
  const { license } = told
  const type = await typeOf(db, license)
  const end = told.kind === 'renewed' && license ? endOf(license) : told.until
  return {
    ...{ app: told.app, name: told.name, order, version, summary, link },
    type: type?.name ?? null,
    end: end === 0 || end >= never ? null : dayInWords(end, tags),
    page: pageOf(config, { app_id: told.public_app_id, customer_page: told.customer_page }),
    renew: license && type?.renew_url ? fillLink(type.renew_url, toBuyReference(seal, license.id)) : null,
  }
}

/** The end of a license, or of its updates if it never ends. */
export const endOf = (license: LicenseRow): number =>
  displayedEnd(license, 0) ?? updatesUntil(license) ?? never

async function typeOf(db: Db, license: LicenseRow | null) {
  if (!license?.type_id) return undefined
  return db
    .selectFrom('license_types')
    .select(['name', 'renew_url'])
    .where('id', '=', license.type_id)
    .executeTakeFirst()
}
