import type { DataOf, endpoints, SecondFactorStep } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, call, messageOf } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { resellerSession, useToken } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
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

type Login = DataOf<typeof endpoints.portal.login>
type SignedIn = Extract<Login, { token: string }>

/** Stores the token of a new session and its account. */
export function useStartSession() {
  const client = useQueryClient()
  return ({ token, reseller }: SignedIn) => {
    client.removeQueries({ queryKey: keys.reseller })
    client.setQueryData(resellerKey, reseller)
    resellerSession.set(token)
  }
}

/** Starts the session of a reseller who signed in. */
export function useWelcome() {
  const start = useStartSession()
  return (signedIn: SignedIn) => {
    start(signedIn)
    toast.success('Welcome to your reseller portal!')
  }
}

/** Signs in; an account with a second factor goes on to its second step. */
export function usePortalLogin(
  onSecondStep: (step: SecondFactorStep['secondFactor'], email: string) => void,
) {
  const welcome = useWelcome()
  return useWrite({
    mutationFn: (body: { email: string; password: string }) => call(wire.portal.login, { body }),
    onSuccess: (data, { email }) => {
      if ('secondFactor' in data) onSecondStep(data.secondFactor, email)
      else welcome(data)
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
