import type { SearchMatch } from '@keyward/contract'
import type { Db } from '../../db/index.ts'
import { type ListScope, mayRead } from '../../db/lists/list-filters.ts'
import { toSearchTerm } from '../../db/lists/search.ts'
import { matchOf, readKnown, toReference } from '../../db/lists/search-names.ts'
import { readSales } from '../../db/lists/search-sales.ts'
import type { LicenseView } from './licenses.repo.ts'

/** What a search found in each license of a page. */
export async function matchesOf(
  db: Db,
  filter: ListScope,
  search: string | undefined,
  rows: readonly LicenseView[],
): Promise<(row: LicenseView) => { match?: SearchMatch }> {
  const term = toSearchTerm(search)
  if (!term) return () => ({})
  const users = rows.flatMap(({ client_id }) => (client_id === null ? [] : [client_id]))
  const endUsers = [...new Set(users)]
  const known = await readKnown(db, filter, endUsers, term)
  const licenses = rows.map(({ id }) => id)
  const sales = await readSales(db, filter, { licenses, endUsers }, term)
  const reference = mayRead(filter, 'clients:read') ? toReference(term.text) : undefined
  return (row) => {
    const person = known.get(row.client_id ?? '')
    const match = matchOf(term, [
      ['key', row.key],
      ['note', row.note],
      ['username', row.username],
      ['email', person?.email],
      ['reseller', mayRead(filter, 'resellers:read') ? row.reseller_email : null],
      ['type', row.type_name],
      ['device', person?.device],
    ])
    const found = match ?? sales.get(row.id) ?? sales.get(row.client_id ?? '')
    if (found) return { match: found }
    return reference === undefined ? {} : { match: { field: 'reference', text: reference } }
  }
}
