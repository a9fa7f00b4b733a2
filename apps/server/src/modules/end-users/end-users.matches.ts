import type { SearchMatch } from '@keyward/contract'
import type { Db } from '../../db/index.ts'
import { foundInScope } from '../../db/index.ts'
import { type ListScope, mayRead } from '../../db/lists/list-filters.ts'
import { toSearchTerm } from '../../db/lists/search.ts'
import { matchOf, readKnown, toReference } from '../../db/lists/search-names.ts'
import { readSales } from '../../db/lists/search-sales.ts'
import type { EndUserView } from './end-users.repo.ts'

/** What a search found in each end user of a page. */
export async function matchesOf(
  db: Db,
  filter: ListScope,
  search: string | undefined,
  rows: readonly EndUserView[],
): Promise<(row: EndUserView) => { match?: SearchMatch }> {
  const term = toSearchTerm(search)
  if (!term || rows.length === 0) return () => ({})
  const ids = rows.map(({ id }) => id)
  const [known, licenses] = await Promise.all([
    readKnown(db, filter, ids, term),
    readLicenses(db, filter, ids),
  ])
  const sold = { licenses: licenses.map(({ id }) => id), endUsers: ids }
  const sales = await readSales(db, filter, sold, term)
  const reference = toReference(term.text)
  return (row) => {
    const person = known.get(row.id)
    const used = licenses.filter(({ client_id }) => client_id === row.id)
    const match =
      matchOf(term, [
        ['username', row.username],
        ['key', row.license_key],
        ['email', person?.email],
        ['device', person?.device],
      ]) ??
      matchOf(
        term,
        used.flatMap((license) => [
          ['key', license.key],
          ['reseller', mayRead(filter, 'resellers:read') ? license.reseller : null],
          ['type', mayRead(filter, 'licenses:read') ? license.type : null],
        ]),
      ) ??
      [row, ...used].map(({ id }) => sales.get(id)).find(Boolean)
    if (match) return { match }
    return reference === undefined ? {} : { match: { field: 'reference', text: reference } }
  }
}

/** The keys of end users, with resellers and types. */
const readLicenses = (db: Db, { scope }: ListScope, ids: readonly string[]) =>
  db
    .selectFrom('licenses as l')
    .leftJoin('resellers as r', 'r.id', 'l.reseller_id')
    .leftJoin('license_types as lt', 'lt.id', 'l.type_id')
    .select(['l.id', 'l.client_id', 'l.key', 'r.email as reseller', 'lt.name as type'])
    .where('l.client_id', 'in', ids)
    .where(foundInScope(scope, 'l'))
    .execute()
