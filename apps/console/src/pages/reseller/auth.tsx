import { Link, Navigate, useLocation } from 'react-router'
import { PasswordPage } from '../../features/password-reset/password-page.tsx'
import { useStartSession } from '../../features/portal/session.ts'
import { PortalSignInForm } from '../../features/portal/sign-in-form.tsx'
import { call, withoutFactor } from '../../lib/api/call.ts'
import { resellerSession, useToken } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { AuthFrame, textLinkClass } from '../../ui/auth-frame.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { useTitle } from '../../ui/use-title.ts'

/** Sign-in and password reset in one chunk, so that switching is instant. */
export const ResellerAuthPage = () =>
  useLocation().pathname === paths.resellerAuth ? <SignInPage /> : <ResellerPasswordPage />

function ResellerPasswordPage() {
  const start = useStartSession()
  return (
    <PasswordPage
      place="the reseller portal"
      command="npx keyward reseller reset-password <email>"
      paths={{
        signIn: paths.resellerAuth,
        forgot: paths.resellerForgot,
        reset: paths.resellerReset,
        home: paths.resellerDashboard,
      }}
      forgot={(body) => call(wire.portal.forgotPassword, { body })}
      reset={async (body) => start(withoutFactor(await call(wire.portal.resetPassword, { body })))}
    />
  )
}

function SignInPage() {
  const location = useLocation()
  useTitle('Reseller Sign In')

  if (useToken(resellerSession) !== null) {
    const from = (location.state as { from?: string } | null)?.from
    return <Navigate to={from ?? paths.resellerDashboard} replace />
  }

  return (
    <AuthFrame
      logo={<LogoMark className="size-11" />}
      title="Reseller Portal"
      lead="Sign in to generate and manage your licenses."
      footer={
        <>
          <p>Need an account? Please contact your administrator.</p>
          <p>
            Not a reseller?{' '}
            <Link to={paths.auth} className={textLinkClass}>
              Go to the main portal
            </Link>
          </p>
        </>
      }
    >
      <PortalSignInForm />
    </AuthFrame>
  )
}
