import type { DataOf, endpoints, SecondFactorStep } from '@keyward/contract'
import { useAttempt } from '../../lib/api/attempt.ts'
import { ApiError, call, messageOf } from '../../lib/api/call.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { toast } from '../../ui/toast.tsx'

/** A response with a successful status, but without data. */
const unsuccessful = ({ status }: ApiError) => status >= 200 && status < 300

type Login = DataOf<typeof endpoints.auth.login>
export type SignedIn = Extract<Login, { token: string }>

/** Starts the session of a person who signed in or up, and opens the console. */
export type StartSession = (signedIn: SignedIn) => void | Promise<void>

/** Starts the session of a new sign-in and greets the user. */
export async function welcome(start: StartSession, signedIn: SignedIn) {
  await start(signedIn)
  toast.success('Login Successful', { description: `Welcome back, ${signedIn.user.name}!` })
}

/** Signs in; an account with a second factor goes on to its second step. */
export function useLogin(
  start: StartSession,
  onSecondStep: (step: SecondFactorStep['secondFactor'], email: string) => void,
) {
  return useAttempt({
    mutationFn: (body: { email: string; password: string }) => call(wire.auth.login, { body }),
    onSuccess: (data, { email }) =>
      'secondFactor' in data ? onSecondStep(data.secondFactor, email) : welcome(start, data),
    onError: (error) => {
      ownerSession.set(null)
      const wrong = error instanceof ApiError && (error.status === 401 || unsuccessful(error))
      toast.error('Login Failed', {
        description: wrong
          ? 'Invalid credentials. Please try again.'
          : messageOf(error, 'An error occurred during login.'),
      })
    },
  })
}

interface NewAccount {
  name: string
  email: string
  password: string
  link?: string
}

export function useRegister(start: StartSession, onFailed: (error: unknown, body: NewAccount) => void) {
  return useAttempt({
    mutationFn: (body: NewAccount) => call(wire.auth.register, { body }),
    onSuccess: async (data) => {
      await start(data)
      toast.success('Registration Successful', { description: `Welcome to Keyward, ${data.user.name}!` })
    },
    onError: (error, body) => {
      const message = messageOf(
        error,
        error instanceof ApiError && unsuccessful(error)
          ? 'Failed to create account. Please try again.'
          : 'An error occurred during registration.',
      )
      const taken =
        error instanceof ApiError && (error.code === 'email_taken' || message.includes('already exists'))
      toast.error(taken ? 'Email Already Registered' : 'Registration Failed', { description: message })
      onFailed(error, body)
    },
  })
}
