import { type FieldValues, type Path, type UseControllerProps, useController } from 'react-hook-form'
import { Select } from './select.tsx'
import type { SelectProps } from './select-props.ts'

export type FormSelectProps<Values extends FieldValues, Output> = Omit<SelectProps, 'value' | 'onChange'> &
  Pick<UseControllerProps<Values, Path<Values>, Output>, 'control' | 'name'>

/** A Select as a field of a form. */
export function FormSelect<Values extends FieldValues, Output>({
  control,
  name,
  ...select
}: FormSelectProps<Values, Output>) {
  const { field } = useController({ control, name })
  return <Select {...select} ref={field.ref} value={field.value || undefined} onChange={field.onChange} />
}
