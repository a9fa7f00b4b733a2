import type { PortalReseller } from '@keyward/contract'
import type { ReactNode } from 'react'
import { Navigate, useLocation } from 'react-router'
import { isNetworkError } from '../../lib/api/call.ts'
import { resellerSession, useToken } from '../../lib/api/session.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { PageSpinner } from '../../ui/spinner.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { useReseller } from './session.ts'

/** Redirects to /reseller/auth unless a reseller is signed in. */
export function RequireReseller({ children }: { children: (reseller: PortalReseller) => ReactNode }) {
  const token = useToken(resellerSession)
  const reseller = useReseller()
  const { pathname, search } = useLocation()

  if (token === null) {
    const from = resellerSession.signedOutByUser() ? undefined : pathname + search
    return <Navigate to={paths.resellerAuth} replace state={{ from }} />
  }
  if (reseller.data) return children(reseller.data)
  if (reseller.isError) {
    return (
      <main className="grid min-h-dvh place-items-center">
        <ErrorState
          title={
            isNetworkError(reseller.error)
              ? 'The server cannot be reached'
              : 'Your account could not be loaded'
          }
          description={reseller.error.message}
          onRetry={() => reseller.refetch()}
          retrying={reseller.isFetching}
        />
      </main>
    )
  }
  return <PageSpinner />
}
