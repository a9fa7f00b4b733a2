import type { ReactNode } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { useWrite } from '../../lib/api/write.ts'
import { AuthFrame, textLinkClass } from '../../ui/auth-frame.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { toast } from '../../ui/toast.tsx'
import { useTitle } from '../../ui/use-title.ts'
import { ForgotForm } from './forgot-form.tsx'
import { NewPasswordForm } from './new-password-form.tsx'

export interface PasswordPageProps {
  /** What the account opens, for example 'your Keyward console'. */
  place: string
  /** The operator's command on servers that send no mail. */
  command: string
  paths: { signIn: string; forgot: string; reset: string; home: string }
  /** Requests a link by mail. */
  forgot: (body: { email: string }) => Promise<unknown>
  /** Sets the new password and returns whether a session has started: a second factor comes first. */
  reset: (body: { token: string; password: string }) => Promise<boolean>
  /** Shown above the form for the new password. */
  notice?: ReactNode
}

/** Requests a link for a new password, or sets the new one. For owners and resellers. */
export function PasswordPage(props: PasswordPageProps) {
  return useLocation().pathname === props.paths.reset ? <Reset {...props} /> : <Forgot {...props} />
}

function Forgot({ place, command, paths, forgot }: PasswordPageProps) {
  const sending = useWrite({ mutationFn: forgot })
  useTitle('Forgot Password')
  return (
    <Frame title="Forgot your password?" lead={`Choose a new one for ${place}.`} signIn={paths.signIn}>
      <ForgotForm sending={sending} command={command} />
    </Frame>
  )
}

/** Says that the password was changed, and opens the first page. */
export function usePasswordChanged(home: string) {
  const navigate = useNavigate()
  return () => {
    toast.success('Password changed', { description: 'You have been logged out on all other devices.' })
    void navigate(home, { replace: true })
  }
}

function Reset({ paths, reset, notice }: PasswordPageProps) {
  const changed = usePasswordChanged(paths.home)
  const choosing = useWrite({
    mutationFn: reset,
    onSuccess: (started) => {
      if (started) changed()
    },
  })
  useTitle('New Password')
  return (
    <Frame
      title="Choose a new password"
      lead="The new password logs you out on all other devices."
      signIn={paths.signIn}
    >
      {notice}
      <NewPasswordForm choosing={choosing} forgotPath={paths.forgot} />
    </Frame>
  )
}

interface FrameProps {
  title: string
  lead: string
  signIn: string
  children: ReactNode
}

function Frame({ title, lead, signIn, children }: FrameProps) {
  return (
    <AuthFrame
      logo={<LogoMark className="size-11" />}
      title={title}
      lead={lead}
      footer={
        <p>
          <Link to={signIn} className={textLinkClass}>
            Back to Sign In
          </Link>
        </p>
      }
    >
      {children}
    </AuthFrame>
  )
}
