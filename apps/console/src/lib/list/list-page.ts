import type { UseQueryResult } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import { hasCode } from '../api/call.ts'
import { useUrlState } from '../navigation/url-state.ts'
import { toPage } from './url-values.ts'

/** The page of a list, in the URL. Changing it adds to the browser's history. */
export function usePage() {
  const [url, set] = useUrlState('page')
  const page = toPage(url.page)
  const turnTo = useCallback(
    (next: number, options = { replace: false }) => set({ page: next > 1 ? next : undefined }, options),
    [set],
  )
  return { page, turnTo }
}

/** Goes to the last page when the current one no longer exists; `pages` is undefined until known. */
export function useLastPage(pages: number | undefined) {
  const { page, turnTo } = usePage()
  useEffect(() => {
    if (pages !== undefined && page > Math.max(1, pages)) turnTo(pages, { replace: true })
  }, [pages, page, turnTo])
}

/**
 * The loading and error states of a table; `before` is a query that has to succeed first. Where a link or a saved view names
 * what was deleted, `clearFilters` helps and a retry does not.
 */
export function tableState(
  query: UseQueryResult,
  failure: string,
  before?: UseQueryResult,
  clearFilters?: () => void,
) {
  const failed = before?.isLoadingError ? before : query.isLoadingError ? query : undefined
  return {
    loading: !failed && query.isPending,
    error: failed && {
      title: failure,
      description: failed.error?.message,
      onRetry: () => void failed.refetch(),
      retrying: failed.isFetching,
      remedy:
        clearFilters && hasCode(failed.error, 'not_found')
          ? { label: 'Clear Filters', onClick: clearFilters }
          : undefined,
    },
  }
}
