import type { SearchMatch } from '@keyward/contract'
import type { Db } from '../../db/index.ts'
import type { ListScope } from '../../db/lists/list-filters.ts'
import { toSearchTerm } from '../../db/lists/search.ts'
import { matchOf, mayRead, readKnown, toReference } from '../../db/lists/search-names.ts'
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
  const ids = rows.flatMap(({ client_id }) => (client_id === null ? [] : [client_id]))
  const known = await readKnown(db, filter, [...new Set(ids)], term)
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
    if (match) return { match }
    return reference === undefined ? {} : { match: { field: 'reference', text: reference } }
  }
}
