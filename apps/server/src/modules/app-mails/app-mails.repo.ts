import { limits } from '@keyward/contract'
import type { Db, Tx } from '../../db/index.ts'
import type { AppMailRow } from '../../db/tables.ts'

// The caller has checked the owner of the app.

/** The mails of an app in some languages, and the default one. */
export const listMails = (db: Db, appId: string, locales: readonly string[]): Promise<AppMailRow[]> =>
  db
    .selectFrom('app_mails')
    .selectAll()
    .where('app_id', '=', appId)
    .where('locale', 'in', ['', ...locales])
    .execute()

export async function listLocales(db: Db, appId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('app_mails')
    .select('locale')
    .where('app_id', '=', appId)
    .where('locale', '<>', '')
    .orderBy('locale')
    .execute()
  return rows.map(({ locale }) => locale)
}

/** Saves a mail of an app, which the transaction has locked; false if that would be one language too many. */
export async function saveMail(tx: Tx, row: AppMailRow): Promise<boolean> {
  const locales = row.locale === '' ? [] : await listLocales(tx, row.app_id)
  if (!locales.includes(row.locale) && locales.length >= limits.messageLocalesMax) return false
  const { app_id: _app, locale: _locale, ...content } = row
  await tx
    .insertInto('app_mails')
    .values(row)
    .onConflict((conflict) => conflict.columns(['app_id', 'locale']).doUpdateSet(content))
    .execute()
  return true
}

export async function deleteMail(tx: Tx, appId: string, locale: string): Promise<void> {
  await tx.deleteFrom('app_mails').where('app_id', '=', appId).where('locale', '=', locale).execute()
}

/** Takes one of the first `max` places of an owner after `first`; false if there is none. */
export async function takePlace(
  tx: Tx,
  ownerId: string,
  { first, max }: { first: number; max: number },
): Promise<boolean> {
  if (max <= 0) return false
  const taken = await tx
    .insertInto('buyer_mails')
    .values({ owner_id: ownerId, place: first + 1 })
    .onConflict((conflict) =>
      conflict
        .column('owner_id')
        .doUpdateSet((eb) => ({
          place: eb
            .case()
            .when('buyer_mails.place', '>=', first)
            .then(eb('buyer_mails.place', '+', 1))
            .else(first + 1)
            .end(),
        }))
        .where('buyer_mails.place', '<', first + max),
    )
    .returning('place')
    .executeTakeFirst()
  return taken !== undefined
}
