import type { endpoints, QueryInputOf } from '@keyward/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'

export type SalesQuery = QueryInputOf<typeof endpoints.sales.get>

export function useSales(query: SalesQuery, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.orders, 'sales', query],
    meta: { failure: 'Failed to load the sales' },
    queryFn: ({ signal }) => call(wire.sales.get, { query, signal }),
    enabled,
    staleTime: 10_000,
    // No event says when the count of earlier orders is complete.
    refetchInterval: ({ state }) => state.data?.counting && 3_000,
    placeholderData: keepPreviousData,
  })
}
