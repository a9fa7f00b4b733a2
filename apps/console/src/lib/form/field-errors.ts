import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { ApiError } from '../api/call.ts'

/** Shows the server's errors on their fields. Returns whether every error has a field in the form. */
export function showFieldErrors<Values extends FieldValues>(
  form: Pick<UseFormReturn<Values>, 'setError' | 'getValues'>,
  error: unknown,
): boolean {
  if (!(error instanceof ApiError) || error.fields.length === 0) return false
  const known = new Set(Object.keys(form.getValues()))
  let all = true
  for (const [index, field] of error.fields.entries()) {
    if (known.has(field.path.split('.')[0] ?? '')) {
      form.setError(
        field.path as Path<Values>,
        { type: 'server', message: field.message },
        { shouldFocus: index === 0 },
      )
    } else all = false
  }
  return all
}
