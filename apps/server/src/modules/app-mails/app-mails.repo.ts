import { limits, type MailKind } from '@keyward/contract'
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
