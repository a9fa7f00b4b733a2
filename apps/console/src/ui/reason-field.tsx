import { Field } from './field.tsx'
import { Input } from './input.tsx'

/** Why something is banned, for the person who reads the program's text. */
export function ReasonField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Field label="Reason" optional hint="Replaces {reason} in the text that the program shows.">
      <Input value={value} maxLength={200} onChange={(event) => onChange(event.target.value)} />
    </Field>
  )
}
