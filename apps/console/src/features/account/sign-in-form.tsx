import { CredentialsForm } from '../../ui/credentials-form.tsx'
import { useLogin } from './session.ts'

export function SignInForm({ email }: { email: string }) {
  const login = useLogin()
  return (
    <CredentialsForm
      email={email}
      busy={login.isPending}
      onSubmit={(credentials) => {
        if (credentials.email.trim() && credentials.password) login.mutate(credentials)
      }}
    />
  )
}
