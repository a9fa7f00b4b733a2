import { zodResolver } from '@hookform/resolvers/zod'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import type { z } from 'zod'
import { type CheckedFormOptions, useCheckedForm } from './checked-form.ts'

/** A form with a schema of the contract, in a part that loads when it opens. */
export const useSchemaForm = <Input extends FieldValues, Output>(
  schema: z.ZodType<Output, Input>,
  options: CheckedFormOptions<Input, Output> = {},
): UseFormReturn<Input, unknown, Output> => useCheckedForm(zodResolver(schema), options)

export { showFieldErrors } from './field-errors.ts'
