import { useCallback } from 'react'
import { useApp } from '../api/apps.ts'
import { useUrlState } from '../navigation/url-state.ts'

/**
 * What an owner's list is narrowed to and in which order it is, in the URL. An app is found by its id or by the one that
 * its program knows; what is not known narrows nothing. A change leads back to the first page.
 */
export function useFilters<Status extends string>(statuses: Record<Status, unknown>) {
  const [url, setUrl] = useUrlState('app', 'status', 'search', 'sort', 'page')
  const { app, resolving } = useApp(url.app)
  const status = (Object.keys(statuses) as Status[]).find((known) => known === url.status)
  const filters = { app: app?._id, status, search: url.search }
  const setFilters = useCallback(
    (changes: Partial<Record<'app' | 'status' | 'search' | 'sort', string | undefined>>) =>
      setUrl({ ...changes, page: undefined }),
    [setUrl],
  )
  return {
    app,
    /** The app that the URL names is being looked up: until then nothing may be listed or deleted. */
    resolving,
    filters,
    sort: url.sort === 'oldest' ? ('oldest' as const) : undefined,
    filtered: Boolean(filters.app || filters.status || filters.search),
    setFilters,
    clearFilters: () => setFilters({ app: undefined, status: undefined, search: undefined }),
  }
}
