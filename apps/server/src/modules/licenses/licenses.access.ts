import type { Db, Tx } from '../../db/open.ts'
import type { LicenseRow } from '../../db/tables.ts'

/** Finds a license of an app by its key, for the app's programs. */
export const findLicenseByKey = (
  db: Db,
  appId: string,
  keyNormalized: string,
): Promise<LicenseRow | undefined> =>
  db
    .selectFrom('licenses')
    .selectAll()
    .where('app_id', '=', appId)
    .where('key_normalized', '=', keyNormalized)
    .executeTakeFirst()

export const findLicenseById = (db: Db, appId: string, id: string): Promise<LicenseRow | undefined> =>
  db.selectFrom('licenses').selectAll().where('app_id', '=', appId).where('id', '=', id).executeTakeFirst()

/** Like `findLicenseById`, and locks the row until the transaction ends. */
export const lockLicenseById = (tx: Tx, appId: string, id: string): Promise<LicenseRow | undefined> =>
  tx
    .updateTable('licenses')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

/** Which of these normalized keys already exist in an app. */
export async function takenKeys(db: Db, appId: string, keysNormalized: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('licenses')
    .select('key_normalized')
    .where('app_id', '=', appId)
    .where('key_normalized', 'in', keysNormalized)
    .execute()
  return rows.map((row) => row.key_normalized)
}
