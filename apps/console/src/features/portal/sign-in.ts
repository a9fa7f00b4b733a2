import type { DataOf, endpoints, SecondFactorStep } from '@keyward/contract'
import { useAttempt } from '../../lib/api/attempt.ts'
import { ApiError, call, messageOf } from '../../lib/api/call.ts'
import { resellerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { toast } from '../../ui/toast.tsx'

type Login = DataOf<typeof endpoints.portal.login>
export type SignedIn = Extract<Login, { token: string }>

/** Starts the session of a reseller who signed in, and opens the portal. */
export type StartSession = (signedIn: SignedIn) => void | Promise<void>

/** Starts the session of a new sign-in and greets the reseller. */
export async function welcome(start: StartSession, signedIn: SignedIn) {
  await start(signedIn)
  toast.success('Welcome to your reseller portal!')
}

/** Signs in; an account with a second factor goes on to its second step. */
export function usePortalLogin(
  start: StartSession,
  onSecondStep: (step: SecondFactorStep['secondFactor'], email: string) => void,
) {
  return useAttempt({
    mutationFn: (body: { email: string; password: string }) => call(wire.portal.login, { body }),
    onSuccess: (data, { email }) =>
      'secondFactor' in data ? onSecondStep(data.secondFactor, email) : welcome(start, data),
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
