import { limits, type MailKind } from '@keyward/contract'
import { sql } from 'kysely'
import type { Db, Tx } from '../../db/index.ts'
import type { AppMailRow } from '../../db/tables.ts'

// The caller has checked the owner of the app.

/** The mails of a kind of an app in some languages, and the default one. */
export const listMails = (
  db: Db,
  appId: string,
  kind: MailKind,
  locales: readonly string[],
): Promise<AppMailRow[]> =>
  db
    .selectFrom('app_mails')
    .selectAll()
    .where('app_id', '=', appId)
    .where('kind', '=', kind)
    .where('locale', 'in', ['', ...locales])
    .execute()

export async function listLocales(db: Db, appId: string, kind: MailKind): Promise<string[]> {
  const rows = await db
    .selectFrom('app_mails')
    .select('locale')
    .where('app_id', '=', appId)
    .where('kind', '=', kind)
    .where('locale', '<>', '')
    .orderBy('locale')
    .execute()
  return rows.map(({ locale }) => locale)
}

/** Saves a mail of an app, which the transaction has locked; false if that would be one language too many. */
export async function saveMail(tx: Tx, row: AppMailRow): Promise<boolean> {
  const locales = row.locale === '' ? [] : await listLocales(tx, row.app_id, row.kind)
  if (!locales.includes(row.locale) && locales.length >= limits.messageLocalesMax) return false
  const { app_id: _app, kind: _kind, locale: _locale, ...content } = row
  await tx
    .insertInto('app_mails')
    .values(row)
    .onConflict((conflict) => conflict.columns(['app_id', 'kind', 'locale']).doUpdateSet(content))
    .execute()
  return true
}

export async function deleteMail(tx: Tx, appId: string, kind: MailKind, locale: string): Promise<void> {
  await tx
    .deleteFrom('app_mails')
    .where('app_id', '=', appId)
    .where('kind', '=', kind)
    .where('locale', '=', locale)
    .execute()
}

export interface Places {
  first: number
  max: number
  /** How many of them are for mails that tell customers of something, if this is one. */
  ofCustomers?: number | undefined
}

/** Takes one of the first `max` places of an owner after `first`; false if there is none. */
export async function takePlace(
  tx: Tx,
  ownerId: string,
  { first, max, ofCustomers }: Places,
): Promise<boolean> {
  if (max <= 0) return false
  const isOfCustomer = ofCustomers !== undefined
  const taken = await tx
    .insertInto('buyer_mails')
    .values({ owner_id: ownerId, place: first + 1, customer_place: isOfCustomer ? first + 1 : 0 })
    .onConflict((conflict) => {
      const next = (column: 'place' | 'customer_place') =>
        sql<number>`case when ${sql.ref(`buyer_mails.${column}`)} >= ${sql.lit(first)}
          then ${sql.ref(`buyer_mails.${column}`)} + 1 else ${sql.lit(first + 1)} end`
      const updated = conflict
        .column('owner_id')
        .doUpdateSet({
          place: next('place'),
          ...(isOfCustomer && { customer_place: next('customer_place') }),
        })
        .where('buyer_mails.place', '<', first + max)
      return isOfCustomer ? updated.where('buyer_mails.customer_place', '<', first + ofCustomers) : updated
    })
    .returning('place')
    .executeTakeFirst()
  return taken !== undefined
}
