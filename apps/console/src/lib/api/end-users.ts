import { useQuery } from '@tanstack/react-query'
import { call } from './call.ts'
import { keys } from './query-keys.ts'
import { wire } from './wire.ts'

/** How many end users of an app, or of all apps, can sign in now; undefined until known. */
export function useActiveEndUsers(app: string | undefined): number | undefined {
  const query = { app, limit: 1 }
  return useQuery({
    queryKey: [...keys.clients, 'active', app],
    queryFn: async ({ signal }) => (await call(wire.clients.list, { query, signal })).stats.active,
    staleTime: 0,
  }).data
}
