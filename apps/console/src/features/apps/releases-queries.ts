import { useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'

export function useReleases(id: string) {
  return useQuery({
    queryKey: [...keys.app, id, 'releases'],
    queryFn: async ({ signal }) => (await call(wire.releases.list, { params: { id }, signal })).releases,
  })
}
