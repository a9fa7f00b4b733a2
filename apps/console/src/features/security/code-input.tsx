import type { ComponentProps } from 'react'
import { ExactInput, Input } from '../../ui/input.tsx'

/** The field of a code from an authenticator app, which password managers and phones fill in. */
export function CodeInput(props: ComponentProps<'input'>) {
  return (
    <Input
      name="code"
      inputMode="numeric"
      autoComplete="one-time-code"
      autoCapitalize="off"
      spellCheck={false}
      maxLength={40}
      {...props}
      className="font-mono tracking-widest"
    />
  )
}

/** The field of a recovery code. */
export function RecoveryCodeInput(props: ComponentProps<'input'>) {
  return <ExactInput name="recovery-code" maxLength={40} {...props} className="font-mono" />
}
