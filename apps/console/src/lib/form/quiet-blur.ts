import { useMemo } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'

/**
 * Validates a field on blur only after input: opening a form and clicking a button in it leaves the focused first field
 * empty, which is not a mistake.
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
