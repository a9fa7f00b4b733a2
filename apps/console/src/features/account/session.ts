import { useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { queryClient } from '../../lib/api/query-client.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { toast } from '../../ui/toast.tsx'
import type { SignedIn } from './sign-in.ts'

/** Stores the token of a new session and its account. */
export function startSession({ token, user }: SignedIn) {
  queryClient.clear()
  queryClient.setQueryData(keys.owner, user)
  ownerSession.set(token)
  setTimeout(() => {
    void queryClient.invalidateQueries({ queryKey: keys.apps })
    void queryClient.invalidateQueries({ queryKey: keys.dashboard })
  }, 500)
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
