import type { DataOf, endpoints, SecondFactorStep } from '@keyward/contract'
import { useQueryClient } from '@tanstack/react-query'
import { ApiError, call, messageOf } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toast } from '../../ui/toast.tsx'

/** A response with a successful status, but without data. */
const unsuccessful = ({ status }: ApiError) => status >= 200 && status < 300

type Login = DataOf<typeof endpoints.auth.login>
export type SignedIn = Extract<Login, { token: string }>

/** Stores the token of a new session and its account. */
export function useStartSession() {
  const client = useQueryClient()
  return ({ token, user }: SignedIn) => {
    client.clear()
    client.setQueryData(keys.owner, user)
    ownerSession.set(token)
    setTimeout(() => {
      void client.invalidateQueries({ queryKey: keys.apps })
      void client.invalidateQueries({ queryKey: keys.dashboard })
    }, 500)
  }
}

/** Stores the session of a new sign-in and greets the user. */
export function useWelcome() {
  const start = useStartSession()
  return (signedIn: SignedIn) => {
    start(signedIn)
    toast.success('Login Successful', { description: `Welcome back, ${signedIn.user.name}!` })
  }
}

/** Signs in; an account with a second factor goes on to its second step. */
export function useLogin(onSecondStep: (step: SecondFactorStep['secondFactor'], email: string) => void) {
  const welcome = useWelcome()
  return useWrite({
    mutationFn: (body: { email: string; password: string }) => call(wire.auth.login, { body }),
    onSuccess: (data, { email }) => {
      if ('secondFactor' in data) onSecondStep(data.secondFactor, email)
      else welcome(data)
    },
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

export function useRegister() {
  const start = useStartSession()
  return useWrite({
    mutationFn: (body: { name: string; email: string; password: string; link?: string }) =>
      call(wire.auth.register, { body }),
    onSuccess: (data) => {
      start(data)
      toast.success('Registration Successful', { description: `Welcome to Keyward, ${data.user.name}!` })
    },
    onError: (error) => {
      const message = messageOf(
        error,
        error instanceof ApiError && unsuccessful(error)
          ? 'Failed to create account. Please try again.'
          : 'An error occurred during registration.',
      )
      const taken =
        error instanceof ApiError && (error.code === 'email_taken' || message.includes('already exists'))
      toast.error(taken ? 'Email Already Registered' : 'Registration Failed', { description: message })
    },
  })
}

export function useLogout() {
  const client = useQueryClient()
  return () => {
    // The call reads the token before it is cleared below. Do not wait for the response.
    void call(wire.auth.logout).catch(() => {})
    ownerSession.set(null, true)
    client.clear()
    toast.success('Logged Out', { description: 'You have been logged out.' })
  }
}
