import { Link, Navigate, useLocation, useNavigate } from 'react-router'
import { startSession } from '../features/account/session.ts'
import { PasswordPage, usePasswordChanged } from '../features/password-reset/password-page.tsx'
import { useSecondStep } from '../features/security/second-step.tsx'
import { call } from '../lib/api/call.ts'
import { ownerSession, useToken } from '../lib/api/session.ts'
import { wire } from '../lib/api/wire.ts'
import { paths } from '../lib/navigation/paths.ts'
import { useUrlState } from '../lib/navigation/url-state.ts'
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

function OwnerPasswordPage() {
  const navigate = useNavigate()
  const changed = usePasswordChanged(paths.dashboard)
  const secondStep = useSecondStep({
    show: async (body) => {
      startSession(await call(wire.secondFactor.complete, { body }))
      changed()
    },
    again: 'Please choose your password again.',
    onLeave: () => void navigate(paths.auth, { replace: true }),
  })
  if (secondStep.page) return secondStep.page
  return (
    <PasswordPage
      notice={secondStep.notice}
      place="your Keyward console"
      command="npx keyward owner reset-password <email>"
      paths={{
        signIn: paths.auth,
        forgot: paths.authForgot,
        reset: paths.authReset,
        home: paths.dashboard,
      }}
      forgot={(body) => call(wire.auth.forgotPassword, { body })}
      reset={async (body) => {
        const data = await call(wire.auth.resetPassword, { body })
        if ('secondFactor' in data) secondStep.begin(data.secondFactor)
        else startSession(data)
        return !('secondFactor' in data)
      }}
    />
  )
}
