import { useMutation } from '@tanstack/react-query'
import { Link, useLocation, useNavigate } from 'react-router'
import { useStartSession } from '../features/account/session.ts'
import { type Accepted, AcceptForm } from '../features/invitation/accept-form.tsx'
import { call, withoutFactor } from '../lib/api/call.ts'
import { wire } from '../lib/api/wire.ts'
import { paths } from '../lib/navigation/paths.ts'
import { AuthFrame, textLinkClass } from '../ui/auth-frame.tsx'
import { LogoMark } from '../ui/logo.tsx'
import { toast } from '../ui/toast.tsx'
import { useTitle } from '../ui/use-title.ts'

/** Where the link of an invitation leads. */
export function InvitationPage() {
  const token = useLocation().hash.slice(1)
  const navigate = useNavigate()
  const start = useStartSession()
  const accepting = useMutation({
    mutationFn: async (body: Accepted) => withoutFactor(await call(wire.vendors.acceptInvitation, { body })),
    onSuccess: (session) => {
      start(session)
      toast.success(`You are in the team of ${session.user.vendor.name}`)
      void navigate(paths.dashboard, { replace: true })
    },
  })
  useTitle('Invitation')
  return (
    <AuthFrame
      logo={<LogoMark className="size-11" />}
      title="Join the team"
      lead="You are invited to work on a vendor account of Keyward."
      footer={
        <p>
          <Link to={paths.auth} className={textLinkClass}>
            Back to sign in
          </Link>
        </p>
      }
    >
      <AcceptForm token={token} accepting={accepting} />
    </AuthFrame>
  )
}
