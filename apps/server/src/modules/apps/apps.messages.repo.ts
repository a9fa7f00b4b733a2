import { limits } from '@keyward/contract'
import type { Db, Tx } from '../../db/index.ts'

// The caller has checked the owner of the app.

export async function findTexts(db: Db, appId: string, locale: string): Promise<string | undefined> {
  return (await listTexts(db, appId, [locale])).get(locale)
}

/** The texts of some languages as JSON, by language. */
export async function listTexts(
  db: Db,
  appId: string,
  locales: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('app_messages')
    .select(['locale', 'messages'])
    .where('app_id', '=', appId)
    .where('locale', 'in', locales)
    .execute()
  return new Map(rows.map(({ locale, messages }) => [locale, messages]))
}

export async function listLocales(db: Db, appId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('app_messages')
    .select('locale')
    .where('app_id', '=', appId)
    .orderBy('locale')
    .execute()
  return rows.map(({ locale }) => locale)
}

/** Saves the texts of a language; false if that would be one language too many. */
export async function saveTexts(
  tx: Tx,
  { id, locale, texts }: { id: string; locale: string; texts: string },
): Promise<boolean> {
  const saved = await tx
    .insertInto('app_messages')
    .columns(['app_id', 'locale', 'messages'])
    .expression((eb) => {
      const ofApp = eb.selectFrom('app_messages').where('app_id', '=', id)
      const same = ofApp.select('locale').where('locale', '=', locale)
      const count = ofApp.select(({ fn }) => fn.countAll<number>().as('n'))
      return eb
        .selectFrom('apps')
        .select(({ val }) => [val(id).as('app_id'), val(locale).as('locale'), val(texts).as('messages')])
        .where('id', '=', id)
        .where(({ or, exists, eb: where }) => or([exists(same), where(count, '<', limits.messageLocalesMax)]))
    })
    .onConflict((conflict) => conflict.columns(['app_id', 'locale']).doUpdateSet({ messages: texts }))
    .returning('locale')
    .executeTakeFirst()
  return saved !== undefined
}

export async function deleteTexts(tx: Tx, appId: string, locale: string): Promise<void> {
  await tx.deleteFrom('app_messages').where('app_id', '=', appId).where('locale', '=', locale).execute()
}
