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

/** Why something is banned, for the person who reads the program's text. */
export function ReasonField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Field label="Reason" optional hint="Replaces {reason} in the text that the program shows.">
      <Input value={value} maxLength={200} onChange={(event) => onChange(event.target.value)} />
    </Field>
  )
}
