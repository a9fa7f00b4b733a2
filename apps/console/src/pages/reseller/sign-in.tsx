import { type StartSession, welcome } from '../../features/portal/sign-in.ts'
import { PortalSignInForm } from '../../features/portal/sign-in-form.tsx'
import { useSignIn } from '../../features/security/use-sign-in.tsx'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { AuthFrame, type LinkPart, textLinkClass } from '../../ui/auth-frame.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { useTitle } from '../../ui/use-title.ts'

/** Without router and client of queries: its own root shows it, and the portal after a session. */
export function ResellerSignInPage({ start, Link }: { start: StartSession; Link: LinkPart }) {
  const { page, fields } = useSignIn({
    form: (props) => <PortalSignInForm {...props} start={start} Link={Link} />,
    begin: () => call(wire.portalSecondFactor.passkeyLoginOptions),
    finish: (body) => call(wire.portalSecondFactor.passkeyLogin, { body }),
    complete: (body) => call(wire.portalSecondFactor.complete, { body }),
    welcome: (signedIn) => welcome(start, signedIn),
  })
  useTitle('Reseller Sign In')

  if (page) return page

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
      {fields}
    </AuthFrame>
  )
}
