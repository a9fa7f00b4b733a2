import { type RawBuilder, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { syntaxOf } from '../../db/engine.ts'
import { type Db, foundInScope, lowerCase } from '../../db/index.ts'
import { listShown, shownCustomer } from '../customers/faces.access.ts'
import type { EndUserView } from './end-users.repo.ts'

interface Named {
  knownAs: string | null
}

/** What people call the end users of a page that sign in with their key, and so have no name of their own. */
export async function namesOf(
  db: Db,
  scope: OwnerScope,
  rows: readonly EndUserView[],
): Promise<(row: EndUserView) => Named> {
  const unnamed = rows.filter(({ username, license_key }) => username === license_key)
  if (unnamed.length === 0) return () => ({ knownAs: null })
  const customers = await listShown(
    db,
    scope,
    unnamed.flatMap(({ customer }) => customer ?? []),
  )
  const emailOf = ({ customer, email }: EndUserView) =>
    (customer === null ? undefined : customers.get(customer)?.email) ?? email
  const devices = await readDevices(
    db,
    scope,
    unnamed.filter((row) => emailOf(row) === null),
  )
  const known = new Map(unnamed.map((row) => [row.id, emailOf(row) ?? devices.get(row.id) ?? null]))
  return ({ id }) => ({ knownAs: known.get(id) ?? null })
}

/** The name of the device seen last of an end user `t`. */
const deviceName = sql<
  string | null
>`(select d.name from devices d where d.client_id = t.id and d.name is not null
  order by d.last_seen_at desc, d.id desc limit 1)`

async function readDevices(db: Db, scope: OwnerScope, rows: readonly EndUserView[]) {
  if (rows.length === 0) return new Map<string, string | null>()
  const ids = rows.map(({ id }) => id)
  const users = db.selectFrom('clients as t').where('t.id', 'in', ids).where(foundInScope(scope, 't'))
  const devices = await users.select(['t.id', deviceName.as('name')]).execute()
  return new Map(devices.map(({ id, name }) => [id, name]))
}

/** The name that lists show of an end user `t`, its own one or what it is known as, in small letters. */
export const shownName = (db: Db, scope: OwnerScope): RawBuilder<string | null> =>
  sql`case when t.username = (select l.key from licenses l where l.id = t.license_id) then coalesce(
      (select ${lowerCase(db, 'p.email')} from customers p
        where p.id = t.customer_id and ${shownCustomer(scope, 't')} is not null),
      ${lowerCase(db, 't.email')}, ${sql.raw(syntaxOf(db).lower)}(${deviceName}))
    else t.username_normalized end`
