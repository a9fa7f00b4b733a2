import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { type SignedIn, useStartSession } from '../features/account/session.ts'
import { type Accepted, AcceptForm } from '../features/invitation/accept-form.tsx'
import { type SecondStep, SecondStepEnded, SecondStepPage } from '../features/security/second-step.tsx'
import { call } from '../lib/api/call.ts'
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
  const [step, setStep] = useState<SecondStep>()
  const [ended, setEnded] = useState(false)
  const join = (session: SignedIn) => {
    start(session)
    toast.success(`You are in the team of ${session.user.vendor.name}`)
    void navigate(paths.dashboard, { replace: true })
  }
  const accepting = useMutation({
    mutationFn: (body: Accepted) => call(wire.vendors.acceptInvitation, { body }),
    onSuccess: (data) => {
      if ('secondFactor' in data) setStep(data.secondFactor)
      else join(data)
    },
  })
  useTitle('Invitation')
  if (step) {
    return (
      <SecondStepPage
        step={step}
        show={async (body) => join(await call(wire.secondFactor.complete, { body }))}
        onBack={(hasEnded) => {
          setStep(undefined)
          setEnded(hasEnded)
          if (!hasEnded) void navigate(paths.auth, { replace: true })
        }}
      />
    )
  }
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
      {ended && <SecondStepEnded>Please accept again.</SecondStepEnded>}
      <AcceptForm token={token} accepting={accepting} />
    </AuthFrame>
  )
}
