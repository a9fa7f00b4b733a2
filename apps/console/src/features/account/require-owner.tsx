import type { User } from '@keyward/contract'
import type { ReactNode } from 'react'
import { Navigate, useLocation } from 'react-router'
import { isNetworkError } from '../../lib/api/call.ts'
import { ownerSession, useToken } from '../../lib/api/session.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { PageSpinner } from '../../ui/spinner.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { useOwner } from './session.ts'

/** Redirects to /auth unless a vendor is signed in. */
export function RequireOwner({ children }: { children: (owner: User) => ReactNode }) {
  const token = useToken(ownerSession)
  const owner = useOwner()
  const { pathname, search } = useLocation()

  if (token === null) {
    const from = ownerSession.signedOutByUser() ? undefined : pathname + search
    return <Navigate to={paths.auth} replace state={{ from }} />
  }
  if (owner.data) return children(owner.data)
  if (owner.isError) {
    return (
      <main className="grid min-h-dvh place-items-center">
        <ErrorState
          title={
            isNetworkError(owner.error) ? 'The server cannot be reached' : 'Your account could not be loaded'
          }
          description={owner.error.message}
          onRetry={() => owner.refetch()}
          retrying={owner.isFetching}
        />
      </main>
    )
  }
  return <PageSpinner />
}
