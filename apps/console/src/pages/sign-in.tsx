import { Suspense, useState } from 'react'
import { type StartSession, welcome } from '../features/account/sign-in.ts'
import { SignInForm } from '../features/account/sign-in-form.tsx'
import { useSignIn } from '../features/security/use-sign-in.tsx'
import { call } from '../lib/api/call.ts'
import { usePublicConfig } from '../lib/api/public-config.ts'
import { wire } from '../lib/api/wire.ts'
import { lazyNamed } from '../lib/navigation/lazy.ts'
import { paths } from '../lib/navigation/paths.ts'
import { AuthFrame, type LinkPart, textLinkClass } from '../ui/auth-frame.tsx'
import { LogoMark } from '../ui/logo.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Callout } from '../ui/states.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { useTitle } from '../ui/use-title.ts'

const SignUpForm = lazyNamed(() => import('../features/account/sign-up-form.tsx'), 'SignUpForm')

/** The token of the link that a start prints for the first owner of a server without registration. */
const firstOwnerLink = /^#(kwf_.+)/

export interface SignInPageProps {
  start: StartSession
  Link: LinkPart
  /** The tab in the address. */
  tab: string | undefined
  onTab: (tab: string | undefined) => void
}

/** Sign-in and sign-up, without router and client of queries: its own root shows it, and the console after a session. */
export function SignInPage({ start, Link, tab: shown, onTab }: SignInPageProps) {
  const tab = shown === 'sign-up' ? 'sign-up' : 'sign-in'
  const config = usePublicConfig()
  // Another tab of the page has another address.
  const [link] = useState(() => firstOwnerLink.exec(globalThis.location?.hash ?? '')?.[1])
  const { page, email, setEmail, fields } = useSignIn({
    form: (props) => <SignInForm {...props} start={start} Link={Link} />,
    begin: () => call(wire.secondFactor.passkeyLoginOptions),
    finish: (body) => call(wire.secondFactor.passkeyLogin, { body }),
    complete: (body) => call(wire.secondFactor.complete, { body }),
    welcome: (signedIn) => welcome(start, signedIn),
  })
  useTitle(tab === 'sign-up' ? 'Sign Up' : 'Sign In')

  if (page) return page

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
        onChange={(next) => onTab(next === 'sign-up' ? next : undefined)}
        tabs={[
          {
            value: 'sign-in',
            label: 'Sign In',
            content: <div className="pt-5">{fields}</div>,
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
                      start={start}
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
