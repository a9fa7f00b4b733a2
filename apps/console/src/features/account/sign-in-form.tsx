import { Link } from 'react-router'
import { paths } from '../../lib/navigation/paths.ts'
import { textLinkClass } from '../../ui/auth-frame.tsx'
import { CredentialsForm } from '../../ui/credentials-form.tsx'
import { useLogin } from './session.ts'

export interface SignInFormProps {
  email: string
  onSecondStep: Parameters<typeof useLogin>[0]
}

export function SignInForm({ email, onSecondStep }: SignInFormProps) {
  const login = useLogin(onSecondStep)
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
