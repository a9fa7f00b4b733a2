import type { endpoints, QueryInputOf } from '@keyward/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'

export function useAudit(query: QueryInputOf<typeof endpoints.audit.list>, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.audit, query],
    meta: { failure: 'Failed to load the audit log' },
    queryFn: ({ signal }) => call(wire.audit.list, { query, signal }),
    enabled,
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  })
}
