import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { AuthFrame, textLinkClass } from '../../ui/auth-frame.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { useTitle } from '../../ui/use-title.ts'

const titles = { forgot: 'Forgot your password?', reset: 'Choose a new password' }

export interface PasswordFrameProps {
  step: keyof typeof titles
  lead: string
  /** Path of the sign-in page. */
  signIn: string
  children: ReactNode
}

export function PasswordFrame({ step, lead, signIn, children }: PasswordFrameProps) {
  useTitle(step === 'forgot' ? 'Forgot Password' : 'New Password')
  return (
    <AuthFrame
      logo={<LogoMark className="size-11" />}
      title={titles[step]}
      lead={lead}
      footer={
        <p>
          <Link to={signIn} className={textLinkClass}>
            Back to sign in
          </Link>
        </p>
      }
    >
      {children}
    </AuthFrame>
  )
}
