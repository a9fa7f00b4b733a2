import type { UseFormRegisterReturn } from 'react-hook-form'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'

export function NoteField({ form, error }: { form: UseFormRegisterReturn; error: string | undefined }) {
  return (
    <Field
      label="Note"
      optional
      hint="Visible only to you, for example your customer's name or order"
      error={error}
    >
      <Input maxLength={200} autoComplete="off" {...form} />
    </Field>
  )
}
