import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { syntaxOf } from '../../db/engine.ts'
import { type Db, foundInScope, lowerCase } from '../../db/index.ts'
import { mayRead } from '../../db/lists/list-filters.ts'
import { listShown, shownCustomer } from './faces.access.ts'

interface EndUser {
  id: string
  username: string
  email: string | null
  license_id: string | null
  license_key: string | null
  password_hash: string | null
  /** As the caller sees it. */
  customer: string | null
}

/**
 * What people call those that sign in with their key, and so have no name of their own; null if nothing is known, or the
 * caller may not read end users.
 */
export async function namesByKey(
  db: Db,
  scope: OwnerScope,
  rows: readonly EndUser[],
): Promise<Map<string, string | null>> {
  const unnamed = rows.filter(isNamedByKey)
  if (!mayRead({ scope }, 'clients:read')) return new Map(unnamed.map(({ id }) => [id, null]))
  if (unnamed.length === 0) return new Map()
  const customers = await listShown(
    db,
    scope,
    unnamed.flatMap(({ customer }) => customer ?? []),
  )
  const emailOf = ({ customer, email }: EndUser) =>
    (customer === null ? undefined : customers.get(customer)?.email) ?? email
  const devices = await readDevices(
    db,
    scope,
    unnamed.filter((row) => emailOf(row) === null),
  )
  return new Map(unnamed.map((row) => [row.id, emailOf(row) ?? devices.get(row.id) ?? null]))
}

/** The name of the device seen last of an end user `c`. */
const deviceName = sql<
  string | null
>`(select d.name from devices d where d.client_id = c.id and d.name is not null
  order by d.last_seen_at desc, d.id desc limit 1)`

async function readDevices(db: Db, scope: OwnerScope, rows: readonly EndUser[]) {
  if (rows.length === 0) return new Map<string, string | null>()
  const ids = rows.map(({ id }) => id)
  const users = db.selectFrom('clients as c').where('c.id', 'in', ids).where(foundInScope(scope, 'c'))
  const devices = await users.select(['c.id', deviceName.as('name')]).execute()
  return new Map(devices.map(({ id, name }) => [id, name]))
}

/** The key that an end user `c` signs in with as long as it has no name of its own. */
const firstKey = sql<string | null>`(select f.key from licenses f where f.id = c.license_id)`

const shapeOfKey = '%_____-_____-_____-_____-_____'
const likeKey = new RegExp(`^${shapeOfKey.replaceAll('_', '.').replace('%', '.*')}$`, 's')

/** Whether an end user has no name but its key; a deleted license leaves one of the shape that this server makes. */
const isNamedByKey = ({ username, license_id, license_key, password_hash }: EndUser): boolean =>
  license_id === null && password_hash === null ? likeKey.test(username) : username === license_key

/** The same of an end user `c`. */
const namedByKey = sql<SqlBool>`case when c.license_id is null and c.password_hash is null
  then c.username like ${shapeOfKey} else c.username = ${firstKey} end`

/** The name that lists show of an end user `c`, its own one or what it is known as, in small letters. */
export const shownName = (db: Db, scope: OwnerScope): RawBuilder<string | null> =>
  sql`case when ${namedByKey} then ${
    mayRead({ scope }, 'clients:read')
      ? sql`coalesce((select ${lowerCase(db, 'p.email')} from customers p
          where p.id = c.customer_id and ${shownCustomer(scope, 'c')} is not null),
        ${lowerCase(db, 'c.email')}, ${sql.raw(syntaxOf(db).lower)}(${deviceName}))`
      : sql`null`
  } else c.username_normalized end`

interface UsedLicense {
  key: string
  client_id: string | null
  username: string | null
  added: number
}

/** What people call the end users of licenses; null if nothing is known. */
export async function readUserNames(db: Db, scope: OwnerScope, licenses: readonly UsedLicense[]) {
  const byKey = licenses.filter(({ added, username, key }) => added === 1 || username === key)
  const nameOf = await readNames(
    db,
    scope,
    byKey.map(({ client_id }) => client_id),
  )
  return ({ client_id, username }: UsedLicense) => nameOf(client_id, username)
}

export type NameOf = (id: string | null, username: string | null) => string | null

/** What people call these end users; null for one that signs in with its key if nothing is known. */
export async function readNames(
  db: Db,
  scope: OwnerScope,
  clients: readonly (string | null)[],
): Promise<NameOf> {
  const ids = [...new Set(clients.flatMap((id) => id ?? []))]
  if (ids.length === 0) return (_, username) => username
  const users = db.selectFrom('clients as c').where('c.id', 'in', ids).where(foundInScope(scope, 'c'))
  const rows = await users
    .select(['c.id', 'c.username', 'c.email', 'c.license_id', 'c.password_hash', firstKey.as('license_key')])
    .select(shownCustomer(scope, 'c').as('customer'))
    .execute()
  const names = await namesByKey(db, scope, rows)
  return (id, username) => (id !== null && names.has(id) ? (names.get(id) ?? null) : username)
}

/** The user of one license, with its name. */
export async function namedUser(db: Db, scope: OwnerScope, user: { _id: string; username: string } | null) {
  const nameOf = await readNames(db, scope, [user?._id ?? null])
  return user && { ...user, name: nameOf(user._id, user.username) }
}

/** Whether an end user `c` has a name of its own. */
export const hasOwnName = sql<SqlBool>`(${namedByKey}) is not true`

/** The name of the user of a license by its alias; of one that signs in with another key, the key of this license. */
export const nameBesideKey = (license: string) =>
  sql<string | null>`(select case when ${namedByKey} then ${sql.ref(`${license}.key`)} else c.username end
    from clients c where c.id = ${sql.ref(`${license}.client_id`)})`
