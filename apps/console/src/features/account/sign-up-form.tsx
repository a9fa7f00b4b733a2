import { limits } from '@keyward/contract'
import { useForm } from 'react-hook-form'
import { showFieldErrors } from '../../lib/form/field-errors.ts'
import { useQuietBlur } from '../../lib/form/quiet-blur.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Input, PasswordInput } from '../../ui/input.tsx'
import { StrengthMeter } from '../../ui/strength-meter.tsx'
import { type StartSession, useRegister } from './sign-in.ts'

const mismatch = 'Passwords do not match'

interface Values {
  name: string
  email: string
  password: string
  confirm: string
}

export interface SignUpFormProps {
  start: StartSession
  email: string
  /** The server requires more than six characters. */
  strict: boolean
  /** The token of a link with which registration works although it is closed. */
  link: string | undefined
  onFailed: (email: string) => void
}

export function SignUpForm({ start, email, strict, link, onFailed }: SignUpFormProps) {
  const form = useQuietBlur(
    useForm<Values>({
      mode: 'onTouched',
      // Load the schemas with the first validation, to keep the first page that many people load small.
      resolver: async (...checked) => (await import('./sign-up-schema.ts')).resolver(...checked),
      defaultValues: { name: '', email, password: '', confirm: '' },
    }),
  )
  const register = useRegister(start, (error, body) => {
    showFieldErrors(form, error)
    onFailed(body.email)
  })
  const { errors } = form.formState
  const [password, confirm] = form.watch(['password', 'confirm'])
  const differs = confirm !== '' && confirm !== password

  const submit = form.handleSubmit(({ confirm: _, ...body }) =>
    register.mutate(link === undefined ? body : { ...body, link }),
  )
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      <Field label="Full Name" error={errors.name?.message}>
        <Input {...form.register('name')} autoComplete="name" />
      </Field>
      <Field label="Email" error={errors.email?.message}>
        <Input
          {...form.register('email')}
          type="email"
          autoComplete="username"
          placeholder="you@company.com"
        />
      </Field>
      <Field
        label="Password"
        hint={
          strict ? 'At least 8 characters, and not a common one' : `At least ${limits.passwordMin} characters`
        }
        error={errors.password?.message}
      >
        <PasswordInput {...form.register('password')} autoComplete="new-password" />
      </Field>
      <StrengthMeter password={password} />
      <Field
        label="Confirm Password"
        error={differs ? mismatch : errors.confirm && !confirm ? mismatch : undefined}
      >
        <PasswordInput {...form.register('confirm')} autoComplete="new-password" />
      </Field>
      <Button
        type="submit"
        variant="primary"
        size="lg"
        loading={register.isPending}
        disabled={differs}
        className="mt-1"
      >
        Sign Up
      </Button>
    </form>
  )
}
