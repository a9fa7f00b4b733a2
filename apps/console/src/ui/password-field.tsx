import { Field } from './field.tsx'
import { PasswordInput } from './input.tsx'

export interface PasswordFieldProps {
  label?: string
  error?: string | undefined
  name?: string
  isNew?: boolean
  hint?: string
  value: string
  onChange: (value: string) => void
}

/** A password of the user's own, in a form without a schema. */
export function PasswordField(props: PasswordFieldProps) {
  const { label = 'Password', error, name = 'password', isNew, hint, value, onChange } = props
  return (
    <Field label={label} error={error} hint={hint}>
      <PasswordInput
        name={name}
        autoComplete={isNew ? 'new-password' : 'current-password'}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  )
}
