import { useQuery } from '@tanstack/react-query'
import { call } from './call.ts'
import { keys } from './query-keys.ts'
import { wire } from './wire.ts'

/** The released versions of an app, newest first. */
export function useReleases(id: string) {
  return useQuery({
    queryKey: [...keys.app, id, 'releases'],
    queryFn: async ({ signal }) => (await call(wire.releases.list, { params: { id }, signal })).releases,
  })
}
