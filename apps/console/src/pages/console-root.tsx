import type { User } from '@keyward/contract'
import { QueryClientProvider } from '@tanstack/react-query'
import { Suspense, useEffect, useState } from 'react'
import { Outlet, useLocation } from 'react-router'
import { call, onRightMissing, onSessionExpired } from '../lib/api/call.ts'
import { watchConnection } from '../lib/api/connection.ts'
import { askForIdentityWith } from '../lib/api/identity.ts'
import { queryClient } from '../lib/api/query-client.ts'
import { keys } from '../lib/api/query-keys.ts'
import {
  onSessionChangedElsewhere,
  onTokenLeft,
  ownerSession,
  resellerSession,
  type Session,
} from '../lib/api/session.ts'
import { wire } from '../lib/api/wire.ts'
import { lazyNamed } from '../lib/navigation/lazy.ts'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { dismissConflict } from '../ui/failure-toast.tsx'
import { Toaster, toast } from '../ui/toast.tsx'
import { showKeptToasts } from '../ui/toast-handover.ts'

const ConfirmIdentity = lazyNamed(
  () => import('../features/security/confirm-identity.tsx'),
  'ConfirmIdentity',
)

/** Removes the data of one session: the console and the portal can be open at the same time. */
function forget(session: Session) {
  const ofReseller = session === resellerSession
  queryClient.removeQueries({
    predicate: ({ queryKey }) => (queryKey[0] === keys.reseller[0]) === ofReseller,
  })
}

/** The server answers 401 both to a removed member and to an expired session. */
const expiryText = (user: User | undefined) =>
  user === undefined || user.role === 'owner'
    ? 'Your session has expired. Please log in again.'
    : `Your session has ended, or you no longer have access to ${user.vendor.name}. Please log in again.`

/** Provides data and toasts, which the public pages do not need. */
export function ConsoleRoot() {
  useEffect(
    () =>
      onSessionExpired((session, endpoint) => {
        const isOwner = endpoint === wire.auth.profile
        const known = queryClient.getQueryData(isOwner ? keys.owner : [...keys.reseller, 'profile'])
        const user = queryClient.getQueryData<User>(keys.owner)
        queryClient.clear()
        // Checking a stored token on start fails silently.
        if ((isOwner || endpoint === wire.portal.profile) && !known) return
        toast.error('Session Expired', {
          description: expiryText(session === ownerSession ? user : undefined),
        })
      }),
    [],
  )
  useEffect(() => onSessionChangedElsewhere(forget), [])
  useEffect(() => onTokenLeft(() => void call(wire.auth.logout).catch(() => {})), [])
  // A missing permission means that the user's rights have changed: load them again.
  useEffect(() => onRightMissing(() => void queryClient.invalidateQueries({ queryKey: keys.owner })), [])
  // Refetch on every change: the queries become stale when the connection is lost, and fresh when it returns.
  useEffect(() => watchConnection(() => void queryClient.invalidateQueries()), [])
  useEffect(showKeptToasts, [])
  // Dialogs have addresses: opening or closing one ends what was said about it.
  const { key } = useLocation()
  useEffect(() => {
    if (key) dismissConflict()
  }, [key])
  return (
    <QueryClientProvider client={queryClient}>
      <Outlet />
      <IdentityQuestion />
      <Toaster />
    </QueryClientProvider>
  )
}

/** Asks people to confirm that it is them whenever the server does, whatever form made the call. */
function IdentityQuestion() {
  const [asked, setAsked] = useState<{ session: Session; answer: (confirmed: boolean) => void }>()
  useEffect(
    () =>
      askForIdentityWith(
        (session) =>
          new Promise((resolve) => {
            const answer = (confirmed: boolean) => {
              setAsked(undefined)
              resolve(confirmed)
            }
            setAsked({ session, answer })
          }),
      ),
    [],
  )
  return (
    asked && (
      // Not Deferred, whose module would make the chunk of this page and that of the router import each other.
      <ErrorBoundary fallback={null} onFail={() => asked.answer(false)}>
        <Suspense fallback={null}>
          <ConfirmIdentity session={asked.session} onAnswer={asked.answer} />
        </Suspense>
      </ErrorBoundary>
    )
  )
}
