import type { UseFormRegisterReturn } from 'react-hook-form'
import { Field } from './field.tsx'
import { Input } from './input.tsx'

export interface NoteFieldProps {
  label?: string
  /** What the note could be. */
  example: string
  form: UseFormRegisterReturn
  error: string | undefined
}

export function NoteField({ label = 'Note', example, form, error }: NoteFieldProps) {
  return (
    <Field label={label} optional hint={`Visible only to you, for example ${example}`} error={error}>
      <Input maxLength={200} autoComplete="off" {...form} />
    </Field>
  )
}
