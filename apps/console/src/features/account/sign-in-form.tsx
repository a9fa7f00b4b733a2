import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Input, PasswordInput } from '../../ui/input.tsx'
import { useLogin } from './session.ts'

/** Without the form library: nothing is checked here, and this is the first page that most people load. */
export function SignInForm({ email: known }: { email: string }) {
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  const login = useLogin()

  function submit(event: FormEvent) {
    event.preventDefault()
    if (email.trim() && password && !login.isPending) login.mutate({ email, password })
  }
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      <Field label="Email">
        <Input
          type="email"
          name="email"
          autoComplete="username"
          placeholder="you@company.com"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      <Field label="Password">
        <PasswordInput
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      <Button type="submit" variant="primary" size="lg" loading={login.isPending} className="mt-1">
        Sign In
      </Button>
    </form>
  )
}
