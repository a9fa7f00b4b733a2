import { useState } from 'react'
import { Link, Navigate, useLocation, useNavigate } from 'react-router'
import { PasswordPage, usePasswordChanged } from '../../features/password-reset/password-page.tsx'
import { useStartSession, useWelcome } from '../../features/portal/session.ts'
import { PortalSignInForm } from '../../features/portal/sign-in-form.tsx'
import { PasskeySignIn } from '../../features/security/passkey-sign-in.tsx'
import { useSecondStep } from '../../features/security/second-step.tsx'
import { call } from '../../lib/api/call.ts'
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
  const navigate = useNavigate()
  const changed = usePasswordChanged(paths.resellerDashboard)
  const secondStep = useSecondStep({
    show: async (body) => {
      start(await call(wire.portalSecondFactor.complete, { body }))
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
        else start(data)
        return !('secondFactor' in data)
      }}
    />
  )
}

function SignInPage() {
  const state = useLocation().state as { from?: string } | null
  const [email, setEmail] = useState('')
  const welcome = useWelcome()
  const secondStep = useSecondStep({
    show: async (body) => welcome(await call(wire.portalSecondFactor.complete, { body })),
    again: 'Please sign in again.',
  })
  useTitle('Reseller Sign In')

  if (useToken(resellerSession) !== null) {
    return <Navigate to={state?.from ?? paths.resellerDashboard} replace />
  }
  if (secondStep.page) return secondStep.page

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
      {secondStep.notice}
      <PortalSignInForm
        email={email}
        onSecondStep={(next, typed) => {
          setEmail(typed)
          secondStep.begin(next)
        }}
      />
      <PasskeySignIn
        begin={() => call(wire.portalSecondFactor.passkeyLoginOptions)}
        finish={async (body) => welcome(await call(wire.portalSecondFactor.passkeyLogin, { body }))}
      />
    </AuthFrame>
  )
}
