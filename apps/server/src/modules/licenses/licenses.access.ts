import { sql } from 'kysely'
import { type Db, locked, type Tx } from '../../db/open.ts'
import type { ClientRow, LicenseRow } from '../../db/tables.ts'
import { type TypedKey, typedColumn } from '../../db/typed-keys.ts'

/** Finds a license of an app by a key as its user typed it, for the app's programs. */
export const findLicenseByKey = (
  db: Db,
  appId: string,
  { exact, typed }: TypedKey,
): Promise<LicenseRow | undefined> =>
  db
    .selectFrom('licenses')
    .selectAll()
    .where(
      'seq',
      '=',
      sql<number>`coalesce(
      (select x.seq from licenses x where x.app_id = ${appId} and x.key_normalized = ${exact}),
      (select x.seq from licenses x
        where x.app_id = ${appId} and ${sql.raw(typedColumn('x.key_normalized'))} = ${typed} and x.key_twin = 0))`,
    )
    .executeTakeFirst()

export const findLicenseById = (db: Db, appId: string, id: string): Promise<LicenseRow | undefined> =>
  db.selectFrom('licenses').selectAll().where('app_id', '=', appId).where('id', '=', id).executeTakeFirst()

/** The first license of an end user, whose term and ban apply to the end user. */
export const findFirstLicense = async (
  db: Db,
  appId: string,
  client: Pick<ClientRow, 'license_id'>,
): Promise<LicenseRow | undefined> =>
  client.license_id === null ? undefined : findLicenseById(db, appId, client.license_id)

/** Like `findFirstLicense`, for an end user that is not read yet. */
export const findFirstLicenseOf = (
  db: Db,
  appId: string,
  clientId: string,
): Promise<LicenseRow | undefined> =>
  db
    .selectFrom('clients as c')
    .innerJoin('licenses as l', 'l.id', 'c.license_id')
    .selectAll('l')
    .where('c.id', '=', clientId)
    .where('c.app_id', '=', appId)
    .executeTakeFirst()

/** Like `findLicenseById`, and locks the row until the transaction ends. */
export const lockLicenseById = (tx: Tx, appId: string, id: string): Promise<LicenseRow | undefined> =>
  locked(
    tx,
    tx.selectFrom('licenses').selectAll().where('app_id', '=', appId).where('id', '=', id),
  ).executeTakeFirst()

/** The keys of an app that are equal to one of these as people type them, in the form of `key_normalized`. */
export async function takenKeys(db: Db, appId: string, typed: readonly string[]): Promise<string[]> {
  const equal = (twin: 0 | 1) =>
    db
      .selectFrom('licenses')
      .select('key_normalized')
      .where('app_id', '=', appId)
      .where(sql<string>`${sql.raw(typedColumn('key_normalized'))}`, 'in', typed)
      .where('key_twin', '=', sql.lit(twin))
  const rows = await equal(0).unionAll(equal(1)).execute()
  return rows.map((row) => row.key_normalized)
}

/** Whether older keys of the app that match exactly only are equal to this one as people type it. */
export async function hasTwins(db: Db, appId: string, typed: string): Promise<boolean> {
  const twin = await db
    .selectFrom('licenses')
    .select('id')
    .where('app_id', '=', appId)
    .where(sql<string>`${sql.raw(typedColumn('key_normalized'))}`, '=', typed)
    .where('key_twin', '=', sql.lit(1))
    .limit(1)
    .executeTakeFirst()
  return twin !== undefined
}

/**
 * The name of a license's end user, by the alias of the license. Not joined: for a page of some thousand rows,
 * PostgreSQL would read all end users.
 */
export const usernameOf = (license: string) =>
  sql<string | null>`(select u.username from clients u where u.id = ${sql.ref(`${license}.client_id`)})`

/** The end users of licenses. */
export const usersOf = (licenses: readonly Pick<LicenseRow, 'client_id'>[]): string[] =>
  licenses.map((license) => license.client_id).filter((id) => id !== null)
