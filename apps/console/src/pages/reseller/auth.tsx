import { Link, Navigate, useLocation } from 'react-router'
import { startSession } from '../../features/portal/session.ts'
import { call } from '../../lib/api/call.ts'
import { resellerSession, useToken } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { PasswordPages } from '../password.tsx'
import { ResellerSignInPage } from './sign-in.tsx'

/** Sign-in and password reset in one chunk, so that switching is instant. */
export function ResellerAuthPage() {
  const { pathname, state } = useLocation() as { pathname: string; state: { from?: string } | null }
  const isSignedIn = useToken(resellerSession) !== null
  if (pathname !== paths.resellerAuth) return <ResellerPasswordPage />
  if (isSignedIn) return <Navigate to={state?.from ?? paths.resellerDashboard} replace />
  return <ResellerSignInPage start={startSession} Link={Link} />
}

const ResellerPasswordPage = () => (
  <PasswordPages
    place="the reseller portal"
    command="npx keyward reseller reset-password <email>"
    paths={{
      signIn: paths.resellerAuth,
      forgot: paths.resellerForgot,
      reset: paths.resellerReset,
      home: paths.resellerDashboard,
    }}
    forgot={(body) => call(wire.portal.forgotPassword, { body })}
    reset={(body) => call(wire.portal.resetPassword, { body })}
    complete={(body) => call(wire.portalSecondFactor.complete, { body })}
    start={startSession}
  />
)
