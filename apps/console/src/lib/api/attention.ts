import { useQuery } from '@tanstack/react-query'
import { call } from './call.ts'
import { keys } from './query-keys.ts'
import { wire } from './wire.ts'

/** What waits for the signed-in person, and whether the server sends mail. */
export function useAttention() {
  return useQuery({
    queryKey: [...keys.dashboard, 'attention'],
    queryFn: ({ signal }) => call(wire.dashboard.attention, { signal }),
    staleTime: 30_000,
    refetchOnWindowFocus: true,
  })
}
