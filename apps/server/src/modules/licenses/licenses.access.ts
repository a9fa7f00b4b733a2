import { type CompiledQuery, sql } from 'kysely'
import { type TypedKey, toTypedKey } from '../../core/ids.ts'
import { keysIn } from '../../core/pasted-keys.ts'
import { licenseColumns } from '../../db/columns.ts'
import { type Db, lock, prepared, type Tx } from '../../db/index.ts'
import type { ClientRow, LicenseRow } from '../../db/tables.ts'
import { typedColumn } from '../../db/typed-keys.ts'

/** What sign-ins decide by. */
export type FirstLicense = Pick<
  LicenseRow,
  | 'id'
  | 'banned'
  | 'ban_reason'
  | 'test'
  | 'term'
  | 'started_at'
  | 'devices'
  | 'seats'
  | 'seat_timeout_seconds'
  | 'features'
  | 'updates_for_days'
  | 'trial'
  | 'updates_until'
  | 'created_at'
>

/** Finds a license of an app by a key as its user typed it, for the app's programs. */
export const findLicenseByKey = (
  db: Db,
  appId: string,
  { exact, typed }: TypedKey,
): Promise<LicenseRow | undefined> => byKey.first(db, { appId, exact, typed })

const byKey = prepared((db, values: TypedKey & { appId: string }) =>
  db
    .selectFrom('licenses')
    .select(licenseColumns)
    .where(
      'seq',
      '=',
      sql<number>`coalesce(
      (select x.seq from licenses x where x.app_id = ${values.appId} and x.key_normalized = ${values.exact}),
      (select x.seq from licenses x
        where x.app_id = ${values.appId} and ${sql.raw(typedColumn('x.key_normalized'))} = ${values.typed} and x.key_twin = 0))`,
    ),
)

/** The license of the only key in a text that is no key itself; none if several parts of it are keys. */
export async function findPastedLicense(
  db: Db,
  appId: string,
  text: string,
): Promise<LicenseRow | undefined> {
  const { whole, parts } = keysIn(text)
  const exact = whole === undefined ? undefined : await findLicenseByKey(db, appId, toTypedKey(whole))
  if (exact) return exact
  const found = new Map<string, LicenseRow>()
  for (const part of parts) {
    const license = await findLicenseByKey(db, appId, toTypedKey(part))
    if (license) found.set(license.id, license)
  }
  return found.size === 1 ? [...found.values()][0] : undefined
}

export const findLicenseById = (db: Db, appId: string, id: string): Promise<LicenseRow | undefined> =>
  byId.first(db, { appId, id })

const oneById = (db: Db, values: { appId: string; id: string }) =>
  db
    .selectFrom('licenses')
    .select(licenseColumns)
    .where('app_id', '=', values.appId)
    .where('id', '=', values.id)

const byId = prepared(oneById)

/** The first license of an end user, whose term and ban apply to the end user. */
export const findFirstLicense = async (
  db: Db,
  appId: string,
  client: Pick<ClientRow, 'license_id'>,
): Promise<LicenseRow | undefined> =>
  client.license_id === null ? undefined : findLicenseById(db, appId, client.license_id)

/** The query for the first license of an end user that is not read yet. */
export const firstLicenseOf = (db: Db, appId: string, clientId: string): CompiledQuery<FirstLicense> =>
  firstOf.with(db, { appId, clientId })

const firstOf = prepared((db, values: { appId: string; clientId: string }) =>
  db
    .selectFrom('clients as c')
    .innerJoin('licenses as l', 'l.id', 'c.license_id')
    .select([
      'l.id',
      'l.banned',
      'l.ban_reason',
      'l.test',
      'l.term',
      'l.started_at',
      'l.devices',
      'l.seats',
      'l.seat_timeout_seconds',
      'l.features',
      'l.updates_for_days',
      'l.trial',
      'l.updates_until',
      'l.created_at',
    ])
    .where('c.id', '=', values.clientId)
    .where('c.app_id', '=', values.appId),
)

/** Like `findLicenseById`, and locks the row until the transaction ends. */
export const lockLicenseById = (tx: Tx, appId: string, id: string): Promise<LicenseRow | undefined> =>
  lockOne.first(tx, { appId, id })

const lockOne = prepared((db, values: { appId: string; id: string }) => lock(db, oneById(db, values)))

/** Locks the first license of an end user, together with the transaction's next query, if the end user has seats. */
export const lockSeatsOf = (tx: Tx, appId: string, clientId: string): Promise<void> =>
  lock.ahead(tx, () => lockSeats.with(tx, { appId, clientId }))

const lockSeats = prepared((db, values: { appId: string; clientId: string }) =>
  db
    .selectFrom('clients as c')
    .innerJoin('licenses as l', 'l.id', 'c.license_id')
    .select('l.id')
    .where('c.id', '=', values.clientId)
    .where('c.app_id', '=', values.appId)
    .where(({ eb, or }) => or([eb('l.seats', 'is not', null), eb('c.added_rights', 'is not', null)]))
    .forNoKeyUpdate(['l']),
)

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

/** The time that a pause holds of the end user that shares the end of a license, by the alias of the license. */
export const leftOf = (license: string) =>
  sql<number | null>`(select u.left_ms from clients u
    where u.id = ${sql.ref(`${license}.client_id`)} and u.license_id = ${sql.ref(`${license}.id`)})`

/** The end users of licenses. */
export const usersOf = (licenses: readonly Pick<LicenseRow, 'client_id'>[]): string[] =>
  licenses.map((license) => license.client_id).filter((id) => id !== null)
