import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Field } from './field.tsx'
import { Input } from './input.tsx'
import { PasswordField } from './password-field.tsx'

export interface CredentialsFormProps {
  email?: string
  busy: boolean
  onSubmit: (credentials: { email: string; password: string }) => void
  /** A link under the password, which may pass on the typed email. */
  forgot: (email: string) => ReactNode
  /** Between the fields and the button. */
  children?: ReactNode
}

/** The sign-in form. Does not use the form library, to keep the first page that most people load small. */
export function CredentialsForm({
  email: known = '',
  busy,
  onSubmit,
  forgot,
  children,
}: CredentialsFormProps) {
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  return (
    <form
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) onSubmit({ email, password })
      }}
    >
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
      <PasswordField value={password} onChange={setPassword} />
      <p className="-mt-1 text-right text-[0.8125rem]">{forgot(email)}</p>
      {children}
      <Button type="submit" variant="primary" size="lg" loading={busy} className="mt-1">
        Sign In
      </Button>
    </form>
  )
}
