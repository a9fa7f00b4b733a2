import type { DataOf, endpoints } from '@keyward/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, call, messageOf, withoutFactor } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { resellerSession, useToken } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { toast } from '../../ui/toast.tsx'

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
export function useStartSession() {
  const client = useQueryClient()
  return ({ token, reseller }: Extract<DataOf<typeof endpoints.portal.login>, { token: string }>) => {
    client.removeQueries({ queryKey: keys.reseller })
    client.setQueryData(resellerKey, reseller)
    resellerSession.set(token)
  }
}

export function usePortalLogin() {
  const start = useStartSession()
  return useMutation({
    mutationFn: async (body: { email: string; password: string }) =>
      withoutFactor(await call(wire.portal.login, { body })),
    onSuccess: (data) => {
      start(data)
      toast.success('Welcome to your reseller portal!')
    },
    onError: () => resellerSession.set(null),
  })
}

/** The message for a failed sign-in: the server's own for a rejection, a general one for a failure. */
export function signInFailure(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) {
    return 'Invalid email or password. Please check your credentials.'
  }
  const failed = 'Authentication failed. Please try again.'
  return error instanceof ApiError && error.status > 401 && error.status < 500
    ? messageOf(error, failed)
    : failed
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
