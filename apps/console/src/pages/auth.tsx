import { Link, Navigate, useLocation } from 'react-router'
import { startSession } from '../features/account/session.ts'
import { call } from '../lib/api/call.ts'
import { ownerSession, useToken } from '../lib/api/session.ts'
import { wire } from '../lib/api/wire.ts'
import { paths } from '../lib/navigation/paths.ts'
import { useUrlState } from '../lib/navigation/url-state.ts'
import { PasswordPages } from './password.tsx'
import { SignInPage } from './sign-in.tsx'

/** Sign-in, sign-up and password reset in one chunk, so that switching is instant. */
export function AuthPage() {
  const [{ tab }, set] = useUrlState('tab')
  const { pathname, state } = useLocation() as { pathname: string; state: { from?: string } | null }
  const isSignedIn = useToken(ownerSession) !== null
  if (pathname !== paths.auth) return <OwnerPasswordPage />
  if (isSignedIn) return <Navigate to={state?.from ?? paths.dashboard} replace />
  return <SignInPage start={startSession} Link={Link} tab={tab} onTab={(next) => set({ tab: next })} />
}

const OwnerPasswordPage = () => (
  <PasswordPages
    place="your Keyward console"
    command="npx keyward owner reset-password <email>"
    paths={{
      signIn: paths.auth,
      forgot: paths.authForgot,
      reset: paths.authReset,
      home: paths.dashboard,
    }}
    forgot={(body) => call(wire.auth.forgotPassword, { body })}
    reset={(body) => call(wire.auth.resetPassword, { body })}
    complete={(body) => call(wire.secondFactor.complete, { body })}
    start={startSession}
  />
)
