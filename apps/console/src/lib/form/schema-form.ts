import { zodResolver } from '@hookform/resolvers/zod'
import { type FormEvent, useEffect, useRef } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import type { z } from 'zod'
import { isRepeatOfWrite } from '../browser/gesture.ts'
import { type CheckedFormOptions, useCheckedForm } from './checked-form.ts'
import { showFieldErrors } from './field-errors.ts'

/** A form with a schema of the contract, in a part that loads when it opens. */
export const useSchemaForm = <Input extends FieldValues, Output>(
  schema: z.ZodType<Output, Input>,
  options: CheckedFormOptions<Input, Output> = {},
): UseFormReturn<Input, unknown, Output> => useCheckedForm(zodResolver(schema), options)

interface Submitted<Input extends FieldValues, Output, Answer> {
  form: UseFormReturn<Input, unknown, Output>
  /** Called before and after. */
  onBusy?: (busy: boolean) => void
  /** Called with the answer, unless the form is gone by then: the page may show something else. */
  onDone?: (answer: Awaited<Answer>) => void
  /** Called unless the server's errors have a field each. */
  onFailure?: (error: unknown) => void
  onInvalid?: () => void
}

/** Submits a form, and shows the server's errors at their fields. */
export function useSubmit<Input extends FieldValues, Output, Answer>(
  { form, onBusy, onDone, onFailure, onInvalid }: Submitted<Input, Output, Answer>,
  send: (values: Output) => Answer,
) {
  const isShown = useRef(false)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  const submit = form.handleSubmit(async (values) => {
    onBusy?.(true)
    try {
      const answer = await send(values)
      if (isShown.current) onDone?.(answer)
    } catch (error) {
      if (!showFieldErrors(form, error)) onFailure?.(error)
    } finally {
      onBusy?.(false)
    }
  }, onInvalid)
  return async (event: FormEvent) => {
    event.preventDefault()
    // It would not be sent, and take away what the server says of the first one.
    if (isRepeatOfWrite()) return
    const fields = event.currentTarget
    await submit(event)
    // The library comes to a choice after all plain fields.
    setTimeout(() => fields.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
  }
}
