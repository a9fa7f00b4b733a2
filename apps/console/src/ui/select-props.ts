import type { RefCallback } from 'react'

export interface SelectOption {
  /** Never empty. */
  value: string
  label: string
  disabled?: boolean
}
export interface SelectProps {
  /** Focuses it. */
  ref?: RefCallback<HTMLButtonElement>
  value: string | undefined
  onChange: (value: string) => void
  options: SelectOption[]
  placeholder?: string
  /** Required outside of a Field. */
  label?: string
  disabled?: boolean
  className?: string
  /** Searches all options, if there are more than `options`. */
  find?: ((text: string) => Promise<SelectOption[]>) | undefined
}
