import { limits } from '@keyward/contract'
import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useFindApps } from '../../lib/api/apps.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { sources } from './sources.ts'

const limit = 5
const debounceMs = 200

function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), text ? debounceMs : 0)
    return () => clearTimeout(timer)
  }, [text])
  return debounced
}

/** Searches the lists on the server. */
export function useSearchResults(text: string, hasApps: boolean) {
  const wanted = text.trim().slice(0, limits.searchMax)
  const search = useDebounced(wanted)
  const may = useMay()
  const enabled = hasApps && search.length > 1
  const moreApps = useFindApps() !== undefined
  const query = { search, limit }
  const results = useQueries({
    queries: sources.map(({ queryKey, call, find, appsOnly }) => ({
      queryKey: [...queryKey, 'found', query],
      queryFn: ({ signal }: { signal: AbortSignal }) => find({ query, signal }),
      enabled: enabled && may(call) && (moreApps || !appsOnly),
      staleTime: 5_000,
      placeholderData: keepPreviousData,
    })),
  })
  const active = hasApps && text.trim().length > 1
  return {
    commands: active ? results.flatMap(({ data }) => data ?? []) : [],
    searching: active && (search !== wanted || results.some(({ isFetching }) => isFetching)),
    failed: active && results.some(({ isError }) => isError),
  }
}
