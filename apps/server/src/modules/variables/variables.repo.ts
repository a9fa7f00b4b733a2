import type { Db, Tx } from '../../db/index.ts'
import type { LostKey, LostKeyReport } from '../description.ts'

/** A stored list of variables. */
export interface Stored {
  revision: string
  sealed: string
}

/** The caller has checked the app's owner, or is the app's program. */
export const findOfApp = (db: Db, appId: string): Promise<Stored | undefined> =>
  db.selectFrom('app_variables').select(['revision', 'sealed']).where('app_id', '=', appId).executeTakeFirst()

/** The caller has checked the end user's owner, or that the end user signed in. */
export const findOfClient = (db: Db, clientId: string): Promise<Stored | undefined> =>
  db
    .selectFrom('client_variables')
    .select(['revision', 'sealed'])
    .where('client_id', '=', clientId)
    .executeTakeFirst()

/** Replaces the list of an app that the transaction has locked; undefined deletes it. */
export async function replaceOfApp(tx: Tx, appId: string, stored: Stored | undefined): Promise<void> {
  await tx.deleteFrom('app_variables').where('app_id', '=', appId).execute()
  if (stored)
    await tx
      .insertInto('app_variables')
      .values({ app_id: appId, ...stored })
      .execute()
}

/** Replaces the list of an end user that the transaction has locked; undefined deletes it. */
export async function replaceOfClient(tx: Tx, clientId: string, stored: Stored | undefined): Promise<void> {
  await tx.deleteFrom('client_variables').where('client_id', '=', clientId).execute()
  if (stored)
    await tx
      .insertInto('client_variables')
      .values({ client_id: clientId, ...stored })
      .execute()
}

/** Deletes what a lost secret key sealed. */
export async function loseKey({
  tx,
}: LostKey): Promise<Pick<LostKeyReport, 'appVariables' | 'endUserVariables'>> {
  const appVariables = await tx.deleteFrom('app_variables').returning('app_id').execute()
  const ofEndUsers = await tx.deleteFrom('client_variables').returning('client_id').execute()
  return { appVariables: appVariables.map(({ app_id }) => app_id), endUserVariables: ofEndUsers.length }
}
