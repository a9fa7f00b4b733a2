import { useCallback } from 'react'
import { useApp } from '../api/apps.ts'
import { useUrlState } from '../navigation/url-state.ts'
import { toId, toSearch } from './url-values.ts'

/**
 * Filters and order of an owner's list, in the URL. An app is given by its `_id` or `appId`; unknown values are ignored.
 * A change returns to the first page.
 */
export function useFilters<Status extends string>(statuses: Record<Status, unknown>) {
  const [url, setUrl] = useUrlState('app', 'status', 'search', 'sort', 'page')
  const { app, resolving, unresolved } = useApp(toId(url.app))
  const status = (Object.keys(statuses) as Status[]).find((known) => known === url.status)
  const filters = { app: app?._id, status, search: toSearch(url.search) }
  const setFilters = useCallback(
    (changes: Partial<Record<'app' | 'status' | 'search' | 'sort', string | undefined>>) =>
      setUrl({ ...changes, page: undefined }),
    [setUrl],
  )
  return {
    app,
    /** The app in the URL is still loading. Do not list or delete anything until then. */
    resolving,
    unresolved,
    filters,
    sort: url.sort === 'oldest' ? ('oldest' as const) : undefined,
    filtered: Boolean(filters.app || filters.status || filters.search),
    setFilters,
    clearFilters: () => setFilters({ app: undefined, status: undefined, search: undefined }),
  }
}
