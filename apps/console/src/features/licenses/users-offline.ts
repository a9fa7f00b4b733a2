import type { License, ListedClient } from '@keyward/contract'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { offlineSentence } from '../../lib/format/offline.ts'

/** Until when programs of the license's end user can run without a connection; undefined if none can, or if unknown. */
export function findOffline(client: QueryClient, { usedBy }: License): Promise<string | undefined> {
  if (!usedBy) return Promise.resolve(undefined)
  const { _id: id } = usedBy
  return client
    .fetchQuery<ListedClient>({
      queryKey: [...keys.clients, 'one', id],
      queryFn: async ({ signal }) => (await call(wire.clients.get, { params: { id }, signal })).client,
      retry: false,
    })
    .then((user) => offlineSentence([user]))
    .catch(() => undefined)
}

export function useOffline(license: License): string | undefined {
  const client = useQueryClient()
  const found = useQuery({
    queryKey: [...keys.clients, 'offline', license._id],
    queryFn: async () => (await findOffline(client, license)) ?? null,
    enabled: license.usedBy !== null,
    staleTime: 0,
  })
  return found.data ?? undefined
}
