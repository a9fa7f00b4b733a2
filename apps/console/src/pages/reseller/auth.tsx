import { useState } from 'react'
import { Link, Navigate, useLocation, useNavigate } from 'react-router'
import { PasswordPage, usePasswordChanged } from '../../features/password-reset/password-page.tsx'
import { useStartSession, useWelcome } from '../../features/portal/session.ts'
import { PortalSignInForm } from '../../features/portal/sign-in-form.tsx'
import { PasskeySignIn } from '../../features/security/passkey-sign-in.tsx'
import { type SecondStep, SecondStepEnded, SecondStepPage } from '../../features/security/second-step.tsx'
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
  const [step, setStep] = useState<SecondStep>()
  const [ended, setEnded] = useState(false)
  if (step) {
    return (
      <SecondStepPage
        step={step}
        show={async (body) => {
          start(await call(wire.portalSecondFactor.complete, { body }))
          changed()
        }}
        onBack={(hasEnded) => {
          setStep(undefined)
          setEnded(hasEnded)
          if (!hasEnded) void navigate(paths.resellerAuth, { replace: true })
        }}
      />
    )
  }
  return (
    <PasswordPage
      notice={ended && <SecondStepEnded>Please choose your password again.</SecondStepEnded>}
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
        if ('secondFactor' in data) setStep(data.secondFactor)
        else start(data)
        return !('secondFactor' in data)
      }}
    />
  )
}

function SignInPage() {
  const state = useLocation().state as { from?: string } | null
  const [email, setEmail] = useState('')
  const [step, setStep] = useState<SecondStep>()
  const [ended, setEnded] = useState(false)
  const welcome = useWelcome()
  useTitle('Reseller Sign In')

  if (useToken(resellerSession) !== null) {
    return <Navigate to={state?.from ?? paths.resellerDashboard} replace />
  }
  if (step) {
    return (
      <SecondStepPage
        step={step}
        show={async (body) => welcome(await call(wire.portalSecondFactor.complete, { body }))}
        onBack={(hasEnded) => {
          setEnded(hasEnded)
          setStep(undefined)
        }}
      />
    )
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
      {ended && <SecondStepEnded>Please sign in again.</SecondStepEnded>}
      <PortalSignInForm
        email={email}
        onSecondStep={(next, typed) => {
          setEmail(typed)
          setStep(next)
        }}
      />
      <PasskeySignIn
        begin={() => call(wire.portalSecondFactor.passkeyLoginOptions)}
        finish={async (body) => welcome(await call(wire.portalSecondFactor.passkeyLogin, { body }))}
      />
    </AuthFrame>
  )
}
