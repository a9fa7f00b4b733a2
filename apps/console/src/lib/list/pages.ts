import { keepPreviousData, type QueryKey, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

interface PagesOptions<Page> {
  queryKey: QueryKey
  failure: string
  load: (page: number, signal: AbortSignal) => Promise<Page>
  enabled: boolean
}

/** A list that grows page by page; a refresh loads all of its pages again. */
export function usePages<Page extends { pagination: { pages: number } }>({
  queryKey,
  failure,
  load,
  enabled,
}: PagesOptions<Page>) {
  const [count, setCount] = useState(1)
  const query = useQuery({
    queryKey: [...queryKey, count],
    meta: { failure },
    queryFn: async ({ signal }) => {
      const pages = [await load(1, signal)]
      for (let page = 2; page <= count; page += 1) pages.push(await load(page, signal))
      return { pages }
    },
    enabled,
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  })
  const last = query.data?.pages.at(-1)
  return {
    ...query,
    hasNextPage: last !== undefined && last.pagination.pages > count,
    fetchNextPage: () => setCount(count + 1),
    isFetchingNextPage: query.isPlaceholderData,
  }
}
