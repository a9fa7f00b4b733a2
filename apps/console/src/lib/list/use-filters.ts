import { useCallback } from 'react'
import { useApp } from '../api/apps.ts'
import { useUrlState } from '../navigation/url-state.ts'
import type { SortName } from './sort-words.ts'
import { usableSorts } from './sorting.ts'
import { toId, toSearch } from './url-values.ts'

export type FilterName = 'app' | 'status' | 'type' | 'reseller' | 'search'

type Filters<Status> = {
  app: string | undefined
  status: Status | undefined
  search: string | undefined
  type?: string | undefined
  reseller?: string | undefined
}

/**
 * Filters and order of an owner's list, in the URL. An app is given by its `_id` or `appId`; unknown values are ignored.
 * A change returns to the first page. Lists of licenses and end users have an origin, too: a license type and a reseller.
 */
export function useFilters<Status extends string, Sort extends SortName>(
  statuses: Record<Status, unknown>,
  { hasOrigin = false, sorts = [] }: { hasOrigin?: boolean; sorts?: readonly Sort[] } = {},
) {
  const [url, setUrl] = useUrlState('app', 'status', 'type', 'reseller', 'search', 'sort', 'page')
  const { app, resolving, unresolved } = useApp(toId(url.app))
  const status = (Object.keys(statuses) as Status[]).find((known) => known === url.status)
  const filters: Filters<Status> = { app: app?._id, status, search: toSearch(url.search) }
  if (hasOrigin) Object.assign(filters, { type: toId(url.type), reseller: toId(url.reseller) })
  const usable = usableSorts(sorts, !filters.search && !filters.type && !filters.reseller)
  const setFilters = useCallback(
    (changes: Partial<Record<FilterName | 'sort', string | undefined>>) =>
      // License types and resellers belong to an app.
      setUrl({
        ...('app' in changes && { type: undefined, reseller: undefined }),
        ...changes,
        page: undefined,
      }),
    [setUrl],
  )
  return {
    app,
    /** The app in the URL is still loading. Do not list or delete anything until then. */
    resolving,
    unresolved,
    filters,
    sort: usable.find((sort) => sort === url.sort),
    sorts: usable,
    filtered: Object.values(filters).some(Boolean),
    setFilters,
    clearFilters: () => setFilters({ app: undefined, status: undefined, search: undefined }),
  }
}
