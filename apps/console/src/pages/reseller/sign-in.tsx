import { useState } from 'react'
import { type StartSession, welcome } from '../../features/portal/sign-in.ts'
import { PortalSignInForm } from '../../features/portal/sign-in-form.tsx'
import { PasskeySignIn } from '../../features/security/passkey-sign-in.tsx'
import { useSecondStep } from '../../features/security/second-step.tsx'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { AuthFrame, type LinkPart, textLinkClass } from '../../ui/auth-frame.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { useTitle } from '../../ui/use-title.ts'

export interface ResellerSignInPageProps {
  start: StartSession
  Link: LinkPart
}

/** Without router and client of queries: its own root shows it, and the portal after a session. */
export function ResellerSignInPage({ start, Link }: ResellerSignInPageProps) {
  const [email, setEmail] = useState('')
  const secondStep = useSecondStep({
    show: async (body) => welcome(start, await call(wire.portalSecondFactor.complete, { body })),
    again: 'Please sign in again.',
  })
  useTitle('Reseller Sign In')

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
        start={start}
        Link={Link}
        onSecondStep={(next, typed) => {
          setEmail(typed)
          secondStep.begin(next)
        }}
      />
      <PasskeySignIn
        begin={() => call(wire.portalSecondFactor.passkeyLoginOptions)}
        finish={async (body) => welcome(start, await call(wire.portalSecondFactor.passkeyLogin, { body }))}
      />
    </AuthFrame>
  )
}
