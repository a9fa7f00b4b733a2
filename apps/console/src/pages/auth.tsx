import { Suspense, useState } from 'react'
import { Link, Navigate, useLocation, useNavigate } from 'react-router'
import { useStartSession, useWelcome } from '../features/account/session.ts'
import { SignInForm } from '../features/account/sign-in-form.tsx'
import { PasswordPage, usePasswordChanged } from '../features/password-reset/password-page.tsx'
import { PasskeySignIn } from '../features/security/passkey-sign-in.tsx'
import { useSecondStep } from '../features/security/second-step.tsx'
import { call } from '../lib/api/call.ts'
import { usePublicConfig } from '../lib/api/public-config.ts'
import { ownerSession, useToken } from '../lib/api/session.ts'
import { wire } from '../lib/api/wire.ts'
import { lazyNamed } from '../lib/navigation/lazy.ts'
import { paths } from '../lib/navigation/paths.ts'
import { useUrlState } from '../lib/navigation/url-state.ts'
import { AuthFrame, textLinkClass } from '../ui/auth-frame.tsx'
import { LogoMark } from '../ui/logo.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Callout } from '../ui/states.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { useTitle } from '../ui/use-title.ts'

const SignUpForm = lazyNamed(() => import('../features/account/sign-up-form.tsx'), 'SignUpForm')

/** The token of the link that a start prints for the first owner of a server without registration. */
const firstOwnerLink = /^#(kwf_.+)/

/** Sign-in, sign-up and password reset in one chunk, so that switching is instant. */
export const AuthPage = () => (useLocation().pathname === paths.auth ? <SignInPage /> : <OwnerPasswordPage />)

function OwnerPasswordPage() {
  const start = useStartSession()
  const navigate = useNavigate()
  const changed = usePasswordChanged(paths.dashboard)
  const secondStep = useSecondStep({
    show: async (body) => {
      start(await call(wire.secondFactor.complete, { body }))
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
        else start(data)
        return !('secondFactor' in data)
      }}
    />
  )
}

function SignInPage() {
  const [{ tab: shown }, set] = useUrlState('tab')
  const tab = shown === 'sign-up' ? 'sign-up' : 'sign-in'
  const [email, setEmail] = useState('')
  const config = usePublicConfig()
  const { state, hash } = useLocation() as { state: { from?: string } | null; hash: string }
  // Another tab of the page has another address.
  const [link] = useState(() => firstOwnerLink.exec(hash)?.[1])
  const welcome = useWelcome()
  const secondStep = useSecondStep({
    show: async (body) => welcome(await call(wire.secondFactor.complete, { body })),
    again: 'Please sign in again.',
  })
  useTitle(tab === 'sign-up' ? 'Sign Up' : 'Sign In')

  if (useToken(ownerSession) !== null) return <Navigate to={state?.from ?? paths.dashboard} replace />
  if (secondStep.page) return secondStep.page

  return (
    <AuthFrame
      logo={
        <Link to={paths.landing} aria-label="Keyward home page" className="rounded-lg">
          <LogoMark className="size-11" />
        </Link>
      }
      title={tab === 'sign-up' ? 'Create your account' : 'Welcome back'}
      lead={
        tab === 'sign-up' ? 'License your software in a few minutes.' : 'Sign in to your Keyward console.'
      }
      footer={
        <p>
          Are you a reseller?{' '}
          <Link to={paths.resellerAuth} className={textLinkClass}>
            Sign in to the reseller portal
          </Link>
        </p>
      }
    >
      <Tabs
        variant="pill"
        label="Sign in or sign up"
        value={tab}
        onChange={(next) => set({ tab: next === 'sign-up' ? next : undefined })}
        tabs={[
          {
            value: 'sign-in',
            label: 'Sign In',
            content: (
              <div className="pt-5">
                {secondStep.notice}
                <SignInForm
                  email={email}
                  onSecondStep={(next, typed) => {
                    setEmail(typed)
                    secondStep.begin(next)
                  }}
                />
                <PasskeySignIn
                  begin={() => call(wire.secondFactor.passkeyLoginOptions)}
                  finish={async (body) => welcome(await call(wire.secondFactor.passkeyLogin, { body }))}
                />
              </div>
            ),
          },
          {
            value: 'sign-up',
            label: 'Sign Up',
            content: (
              <div className="pt-5">
                {config?.registration === 'closed' && link === undefined ? (
                  <Callout title="Registration is closed">
                    You cannot create an account on this server. Ask its administrator for access.
                  </Callout>
                ) : (
                  <Suspense fallback={<Skeleton className="h-[24.5rem]" />}>
                    <SignUpForm
                      email={email}
                      strict={config?.passwordPolicy === 'strict'}
                      link={config?.registration === 'closed' ? link : undefined}
                      onFailed={setEmail}
                    />
                  </Suspense>
                )}
              </div>
            ),
          },
        ]}
      />
    </AuthFrame>
  )
}
