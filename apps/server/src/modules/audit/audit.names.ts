import { type RawBuilder, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { appInScope, type Db, foundInScope, inScope, isIn, lowerCase, ownerOf } from '../../db/index.ts'
import { anywhere } from '../../db/lists/search.ts'
import { listShown } from '../customers/faces.access.ts'
import type { Names } from '../description.ts'

export interface Reader {
  scope: OwnerScope
  /** Whether people may be named by their addresses. */
  seesAddresses: boolean
  /** The person or API key that asks. */
  actorId: string
}

/** The names of objects that still exist, by their ids. */
export async function findNames(
  db: Db,
  names: Names,
  reader: Reader,
  idsByPrefix: ReadonlyMap<string, string[]>,
): Promise<Map<string, string | null>> {
  const found = await Promise.all(
    [...idsByPrefix].map(([prefix, ids]) => {
      const column = names[prefix]?.column
      return column ? namedBy(column, db, reader.scope, ids) : named(db, reader, prefix, ids)
    }),
  )
  return new Map(found.flat().map(({ id, name }) => [id, name]))
}

type Sql = RawBuilder<unknown>
type Named = { id: string; name: string | null }

async function namedBy(
  [table, column]: readonly [string, string],
  db: Db,
  scope: OwnerScope,
  ids: string[],
): Promise<Named[]> {
  const { rows } = await sql<Named>`select t.id, ${sql.ref(`t.${column}`)} as name from ${sql.table(table)} t
    where ${isIn(db, 't.id', ids)} and ${foundInScope(scope, 't')}`.execute(db)
  return rows
}

/** The same for what belongs to no app. */
async function namedOfOwner(
  [table, column]: readonly [string, string],
  db: Db,
  { ownerId }: OwnerScope,
  ids: string[],
): Promise<Named[]> {
  const { rows } = await sql<Named>`select t.id, ${sql.ref(`t.${column}`)} as name from ${sql.table(table)} t
    where ${isIn(db, 't.id', ids)} and ${ownerOf('t')} = ${ownerId}`.execute(db)
  return rows
}

async function named(db: Db, reader: Reader, prefix: string, ids: string[]): Promise<Named[]> {
  const { scope } = reader
  if (prefix === 'app') {
    return db
      .selectFrom('apps')
      .select(['id', 'name'])
      .where(isIn(db, 'id', ids))
      .where(appInScope(scope))
      .execute()
  }
  if (prefix === 'key') return namedOfOwner(['api_keys', 'name'], db, scope, ids)
  if (prefix === 'whk') return namedOfOwner(['webhooks', 'origin'], db, scope, ids)
  if (prefix === 'cus') {
    const shown = await listShown(db, scope, ids)
    return ids.flatMap((id) => {
      const name = shown.get(id)?.email
      return name === undefined ? [] : [{ id, name }]
    })
  }
  if (prefix === 'own') {
    return db
      .selectFrom('owners')
      .select(['id', 'name'])
      .where(isIn(db, 'id', ids))
      .where('id', '=', scope.ownerId)
      .execute()
  }
  return prefix === 'mem'
    ? namedMembers(db, reader, ids)
    : prefix === 'acc'
      ? namedPeople(db, reader, ids)
      : []
}

interface PersonRow {
  id: string
  account_id: string | null
  name: string | null
  email: string | null
}

const toNamed =
  ({ seesAddresses, actorId }: Reader) =>
  ({ id, account_id, name, email }: PersonRow): Named => ({
    id,
    name: name || (seesAddresses || account_id === actorId ? email : null),
  })

/** People have no owner: their ids come from records of the caller's own. */
async function namedPeople(db: Db, reader: Reader, ids: string[]): Promise<Named[]> {
  const rows = await db
    .selectFrom('accounts')
    .select(['id', 'id as account_id', 'name', 'email'])
    .where(isIn(db, 'id', ids))
    .execute()
  return rows.map(toNamed(reader))
}

async function namedMembers(db: Db, reader: Reader, ids: string[]): Promise<Named[]> {
  const rows = await members(db, reader.scope)
    .where(isIn(db, 't.id', ids))
    .execute()
  return rows.map(toNamed(reader))
}

const members = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('members as t')
    .leftJoin('accounts as a', 'a.id', 't.account_id')
    .select(['t.id', 't.account_id', 'a.name'])
    .select((eb) => eb.fn.coalesce('a.email', 't.email').as('email'))
    .where(ownerOf('t'), '=', scope.ownerId)

/** A name that many objects have finds the records of so many of them. */
const namesMost = 50

/** The ids of people, API keys, apps, license types and resellers whose name contains a text, which is in lower case. */
export async function findIdsNamed(
  db: Db,
  reader: Reader,
  text: string,
  may: Record<'apps' | 'resellers', boolean>,
): Promise<string[]> {
  const { scope } = reader
  const find = (table: string, column: string, mine: Sql) => sql`select id from (
    select t.id from ${sql.table(table)} t
    where ${mine} and ${lowerCase(db, `t.${column}`)} like ${anywhere(text)} escape '\\' limit ${namesMost}) found`
  const all = [find('api_keys', 'name', sql`t.owner_id = ${scope.ownerId}`)]
  if (may.apps) {
    all.push(find('apps', 'name', appInScope(scope)), find('license_types', 'name', inScope(scope, 't')))
  }
  if (may.resellers) all.push(find('resellers', 'email', inScope(scope, 't')))
  const { rows } = await sql<{ id: string }>`${sql.join(all, sql` union all `)}`.execute(db)
  return [...rows.map(({ id }) => id), ...(await findPeople(db, reader, text))]
}

/** The people of a vendor are few. */
async function findPeople(db: Db, reader: Reader, text: string): Promise<string[]> {
  const { scope } = reader
  const owner = await db
    .selectFrom('owners as o')
    .innerJoin('accounts as a', 'a.id', 'o.account_id')
    .select(['a.id', 'a.id as account_id', 'a.name', 'a.email'])
    .where('o.id', '=', scope.ownerId)
    .execute()
  const found = [
    ...owner,
    ...(await members(db, scope).where('t.owner_id', '=', scope.ownerId).execute()),
  ].filter(({ account_id, name, email }) => {
    const isReadable = reader.seesAddresses || account_id === reader.actorId
    return [name, isReadable ? email : null].some((each) => each?.toLowerCase().includes(text))
  })
  return found.flatMap(({ id, account_id }) => (account_id === null ? [id] : [id, account_id]))
}
