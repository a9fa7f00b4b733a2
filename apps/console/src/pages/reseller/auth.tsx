import { Link, Navigate, useLocation, useNavigate } from 'react-router'
import { PasswordPage, usePasswordChanged } from '../../features/password-reset/password-page.tsx'
import { startSession } from '../../features/portal/session.ts'
import { useSecondStep } from '../../features/security/second-step.tsx'
import { call } from '../../lib/api/call.ts'
import { resellerSession, useToken } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { ResellerSignInPage } from './sign-in.tsx'

/** Sign-in and password reset in one chunk, so that switching is instant. */
export function ResellerAuthPage() {
  const { pathname, state } = useLocation() as { pathname: string; state: { from?: string } | null }
  const isSignedIn = useToken(resellerSession) !== null
  if (pathname !== paths.resellerAuth) return <ResellerPasswordPage />
  if (isSignedIn) return <Navigate to={state?.from ?? paths.resellerDashboard} replace />
  return <ResellerSignInPage start={startSession} Link={Link} />
}

function ResellerPasswordPage() {
  const navigate = useNavigate()
  const changed = usePasswordChanged(paths.resellerDashboard)
  const secondStep = useSecondStep({
    show: async (body) => {
      startSession(await call(wire.portalSecondFactor.complete, { body }))
      changed()
    },
    again: 'Please choose your password again.',
    onLeave: () => void navigate(paths.resellerAuth, { replace: true }),
  })
  if (secondStep.page) return secondStep.page
  return (
    <PasswordPage
      notice={secondStep.notice}
      place="the reseller portal"
      command="npx keyward reseller reset-password <email>"
      paths={{
        signIn: paths.resellerAuth,
        forgot: paths.resellerForgot,
        reset: paths.resellerReset,
        home: paths.resellerDashboard,
      }}
      forgot={(body) => call(wire.portal.forgotPassword, { body })}
      reset={async (body) => {
        const data = await call(wire.portal.resetPassword, { body })
        if ('secondFactor' in data) secondStep.begin(data.secondFactor)
        else startSession(data)
        return !('secondFactor' in data)
      }}
    />
  )
}
