import { paths } from '../../lib/navigation/paths.ts'
import { type LinkPart, textLinkClass } from '../../ui/auth-frame.tsx'
import { CredentialsForm } from '../../ui/credentials-form.tsx'
import { type StartSession, useLogin } from './sign-in.ts'

export interface SignInFormProps {
  email: string
  start: StartSession
  Link: LinkPart
  onSecondStep: Parameters<typeof useLogin>[1]
}

export function SignInForm({ email, start, Link, onSecondStep }: SignInFormProps) {
  const login = useLogin(start, onSecondStep)
  return (
    <CredentialsForm
      email={email}
      busy={login.isPending}
      forgot={(typed) => (
        <Link to={paths.authForgot} state={{ email: typed }} className={textLinkClass}>
          Forgot your password?
        </Link>
      )}
      onSubmit={(credentials) => {
        if (credentials.email.trim() && credentials.password) login.mutate(credentials)
      }}
    />
  )
}
