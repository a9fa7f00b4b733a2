import type { OwnerScope } from '../../core/actor.ts'
import { type Db, foundInScope } from '../../db/index.ts'
import { listShown } from '../customers/faces.access.ts'
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

/** The name of a device of each end user, of the one seen last. */
async function readDevices(db: Db, scope: OwnerScope, rows: readonly EndUserView[]) {
  if (rows.length === 0) return new Map<string, string | null>()
  const devices = await db
    .selectFrom('devices as d')
    .select(['d.client_id', 'd.name'])
    .where(
      'd.client_id',
      'in',
      rows.map(({ id }) => id),
    )
    .where('d.name', 'is not', null)
    .where(foundInScope(scope, 'd'))
    .orderBy('d.last_seen_at')
    .orderBy('d.id')
    .execute()
  return new Map(devices.map(({ client_id, name }) => [client_id, name]))
}
