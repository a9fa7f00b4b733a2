import { zodResolver } from '@hookform/resolvers/zod'
import { type FieldValues, type UseFormProps, type UseFormReturn, useForm } from 'react-hook-form'
import type { z } from 'zod'

/** A form over a schema of the contract: checked on blur first, and on every key once it was wrong. */
export function useSchemaForm<Input extends FieldValues, Output>(
  schema: z.ZodType<Output, Input>,
  options: UseFormProps<Input, unknown, Output> = {},
): UseFormReturn<Input, unknown, Output> {
  return useForm<Input, unknown, Output>({
    resolver: zodResolver(schema),
    mode: 'onTouched',
    ...options,
  })
}

export { showFieldErrors } from './field-errors.ts'
