import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Input, PasswordInput } from '../../ui/input.tsx'
import { signInFailure, usePortalLogin } from './session.ts'

/** Without the form library, as the first page of the portal: nothing but emptiness is checked here. */
export function PortalSignInForm() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [empty, setEmpty] = useState(false)
  const login = usePortalLogin()
  const problem = empty
    ? 'Please enter both email and password.'
    : login.error
      ? signInFailure(login.error)
      : undefined

  function submit(event: FormEvent) {
    event.preventDefault()
    if (login.isPending) return
    const missing = !email.trim() || !password.trim()
    setEmpty(missing)
    if (missing) login.reset()
    else login.mutate({ email, password })
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
      {problem && (
        <p
          role="alert"
          className="rounded-lg border border-danger-line bg-danger-soft px-3 py-2.5 text-danger-text"
        >
          {problem}
        </p>
      )}
      <Button type="submit" variant="primary" size="lg" loading={login.isPending} className="mt-1">
        Sign In
      </Button>
    </form>
  )
}
