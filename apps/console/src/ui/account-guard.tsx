import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Navigate, useLocation } from 'react-router'
import { isNetworkError } from '../lib/api/call.ts'
import { type Session, useToken } from '../lib/api/session.ts'
import { PageSpinner } from './spinner.tsx'
import { QueryError } from './states.tsx'

export interface AccountGuardProps<Account> {
  session: Session
  account: UseQueryResult<Account>
  /** Path of the sign-in page. */
  signIn: string
  children: (account: Account) => ReactNode
}

/** Redirects signed-out visitors to the sign-in page. Reports a failed load at once, and keeps retrying. */
export function AccountGuard<Account>({ session, account, signIn, children }: AccountGuardProps<Account>) {
  const token = useToken(session)
  const { pathname, search } = useLocation()

  if (token === null) {
    const from = session.signedOutByUser() ? undefined : pathname + search
    return <Navigate to={signIn} replace state={{ from }} />
  }
  if (account.data !== undefined) return children(account.data)
  const { failureReason } = account
  if (!failureReason) return <PageSpinner />
  return (
    <main className="grid min-h-dvh place-items-center">
      <QueryError
        query={account}
        title={
          isNetworkError(failureReason) ? 'The server cannot be reached' : 'Your account could not be loaded'
        }
        description={failureReason.message}
      />
    </main>
  )
}
