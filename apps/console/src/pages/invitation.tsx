import { Link, useLocation, useNavigate } from 'react-router'
import { startSession } from '../features/account/session.ts'
import type { SignedIn } from '../features/account/sign-in.ts'
import { type Accepted, AcceptForm } from '../features/invitation/accept-form.tsx'
import { useSecondStep } from '../features/security/second-step.tsx'
import { call } from '../lib/api/call.ts'
import { wire } from '../lib/api/wire.ts'
import { useWrite } from '../lib/api/write.ts'
import { paths } from '../lib/navigation/paths.ts'
import { AuthFrame, textLinkClass } from '../ui/auth-frame.tsx'
import { LogoMark } from '../ui/logo.tsx'
import { toast } from '../ui/toast.tsx'
import { useTitle } from '../ui/use-title.ts'

/** Where the link of an invitation leads. */
export function InvitationPage() {
  const token = useLocation().hash.slice(1)
  const navigate = useNavigate()
  const join = (session: SignedIn) => {
    startSession(session)
    toast.success(`You are in the team of ${session.user.vendor.name}`)
    void navigate(paths.dashboard, { replace: true })
  }
  const secondStep = useSecondStep({
    show: async (body) => join(await call(wire.secondFactor.complete, { body })),
    again: 'Please accept again.',
    onLeave: () => void navigate(paths.auth, { replace: true }),
  })
  const accepting = useWrite({
    mutationFn: (body: Accepted) => call(wire.vendors.acceptInvitation, { body }),
    onSuccess: (data) => {
      if ('secondFactor' in data) secondStep.begin(data.secondFactor)
      else join(data)
    },
  })
  useTitle('Invitation')
  if (secondStep.page) return secondStep.page
  return (
    <AuthFrame
      logo={<LogoMark className="size-11" />}
      title="Join the team"
      lead="You are invited to work on a vendor account of Keyward."
      footer={
        <p>
          <Link to={paths.auth} className={textLinkClass}>
            Back to Sign In
          </Link>
        </p>
      }
    >
      {secondStep.notice}
      <AcceptForm token={token} accepting={accepting} />
    </AuthFrame>
  )
}
