import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { queryClient } from '../../lib/api/query-client.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { resellerSession, useToken } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { toast } from '../../ui/toast.tsx'
import type { SignedIn } from './sign-in.ts'

const resellerKey = [...keys.reseller, 'profile']

export function useReseller() {
  const token = useToken(resellerSession)
  return useQuery({
    queryKey: resellerKey,
    queryFn: async ({ signal }) => (await call(wire.portal.profile, { signal })).reseller,
    enabled: token !== null,
    refetchOnWindowFocus: true,
  })
}

/** Stores the token of a new session and its account. */
export function startSession({ token, reseller }: SignedIn) {
  queryClient.removeQueries({ queryKey: keys.reseller })
  queryClient.setQueryData(resellerKey, reseller)
  resellerSession.set(token)
}

export function usePortalLogout() {
  const client = useQueryClient()
  return () => {
    // The call reads the token before it is cleared below. Do not wait for the response.
    void call(wire.portal.logout).catch(() => {})
    resellerSession.set(null, true)
    client.removeQueries({ queryKey: keys.reseller })
    toast.success('Logged out successfully')
  }
}
