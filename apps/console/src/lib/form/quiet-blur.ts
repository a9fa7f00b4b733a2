import { useMemo } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'

/**
 * Checks a field on blur only once something was entered: who opens a form and clicks a button in it has left the first
 * field empty, and made no mistake.
 */
export function useQuietBlur<Input extends FieldValues, Output>(
  form: UseFormReturn<Input, unknown, Output>,
): UseFormReturn<Input, unknown, Output> {
  const { register, getFieldState } = form
  const quiet = useMemo(() => {
    const entered = new Set<string>()
    const registerQuietly: typeof register = (name, options) => {
      const field = register(name, options)
      return {
        ...field,
        onChange: (event) => {
          entered.add(name)
          return field.onChange(event)
        },
        onBlur: async (event) => {
          if (entered.has(name) || getFieldState(name).invalid) await field.onBlur(event)
        },
      }
    }
    return registerQuietly
  }, [register, getFieldState])
  return { ...form, register: quiet }
}
