import type { Db } from '../../db/index.ts'
import { listLocales } from './app-mails.repo.ts'

/** The language of an app's customers as far as its mails tell: the only one that the vendor has written them in. */
export async function languageOfMails(db: Db, appId: string): Promise<string | undefined> {
  const locales = await listLocales(db, appId, 'purchase')
  return locales.length === 1 ? locales[0] : undefined
}
