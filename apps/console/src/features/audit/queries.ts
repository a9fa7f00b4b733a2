import type { endpoints, QueryInputOf } from '@keyward/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { usePages } from '../../lib/list/pages.ts'

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

export type AuditPagesQuery = QueryInputOf<typeof endpoints.audit.list>

/** The newest records, page by page. */
export function useAuditPages(query: AuditPagesQuery, enabled: boolean) {
  return usePages({
    queryKey: [...keys.audit, 'pages', query],
    failure: 'Failed to load the audit log',
    load: (page, signal) => call(wire.audit.list, { query: { ...query, page }, signal }),
    enabled,
  })
}
