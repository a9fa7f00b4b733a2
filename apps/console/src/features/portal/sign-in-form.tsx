import { useState } from 'react'
import { paths } from '../../lib/navigation/paths.ts'
import { type LinkPart, textLinkClass } from '../../ui/auth-frame.tsx'
import { CredentialsForm } from '../../ui/credentials-form.tsx'
import { type StartSession, signInFailure, usePortalLogin } from './sign-in.ts'

export interface PortalSignInFormProps {
  email: string
  start: StartSession
  Link: LinkPart
  onSecondStep: Parameters<typeof usePortalLogin>[1]
}

export function PortalSignInForm({ email, start, Link, onSecondStep }: PortalSignInFormProps) {
  const [empty, setEmpty] = useState(false)
  const login = usePortalLogin(start, onSecondStep)
  const problem = empty
    ? 'Please enter both email and password.'
    : login.error
      ? signInFailure(login.error)
      : undefined

  return (
    <CredentialsForm
      email={email}
      busy={login.isPending}
      forgot={(typed) => (
        <Link to={paths.resellerForgot} state={{ email: typed }} className={textLinkClass}>
          Forgot your password?
        </Link>
      )}
      onSubmit={(credentials) => {
        const missing = !credentials.email.trim() || !credentials.password.trim()
        setEmpty(missing)
        if (missing) login.reset()
        else login.mutate(credentials)
      }}
    >
      {problem && (
        <p
          role="alert"
          className="rounded-lg border border-danger-line bg-danger-soft px-3 py-2.5 text-danger-text"
        >
          {problem}
        </p>
      )}
    </CredentialsForm>
  )
}
