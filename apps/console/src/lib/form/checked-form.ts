import {
  type FieldValues,
  type Path,
  type PathValue,
  type Resolver,
  type UseFormProps,
  type UseFormReturn,
  useForm,
} from 'react-hook-form'
import { type Draftable, useDraft } from './drafts.ts'
import { useQuietBlur } from './quiet-blur.ts'

/** Drafts never contain passwords; the user enters them again. */
const withoutPasswords = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !/password|^confirm$/i.test(name)))

export type CheckedFormOptions<Input extends FieldValues, Output> = UseFormProps<Input, unknown, Output> &
  Pick<Draftable<unknown>, 'name'>

/** A form whose resolver validates a field on blur, and from then on with every change. */
export function useCheckedForm<Input extends FieldValues, Output>(
  resolver: Resolver<Input, unknown, Output>,
  { name, ...options }: CheckedFormOptions<Input, Output>,
): UseFormReturn<Input, unknown, Output> {
  const form = useForm<Input, unknown, Output>({ resolver, mode: 'onTouched', ...options })
  useDraft<Record<string, unknown>>({
    name,
    opened: withoutPasswords(form.formState.defaultValues ?? {}),
    read: () => withoutPasswords(form.getValues()),
    restore: (values) => {
      for (const [name, value] of Object.entries(values)) {
        form.setValue(name as Path<Input>, value as PathValue<Input, Path<Input>>, { shouldDirty: true })
      }
    },
  })
  return useQuietBlur(form)
}

export { showFieldErrors } from './field-errors.ts'
