import { createContext, type ReactNode, useContext, useId } from 'react'
import { cx } from './cx.ts'

interface FieldContext {
  id: string
  describedBy: string | undefined
  invalid: boolean
}
const Context = createContext<FieldContext | null>(null)

/** Attributes that tie a control to the label, hint and error of the field around it. */
export function useFieldControl(own?: { id?: string; 'aria-describedby'?: string }) {
  const field = useContext(Context)
  return {
    id: own?.id ?? field?.id,
    'aria-describedby': own?.['aria-describedby'] ?? field?.describedBy,
    'aria-invalid': field?.invalid || undefined,
  }
}

export interface FieldProps {
  label: ReactNode
  /** One control: Input, PasswordInput, Textarea, Select. */
  children: ReactNode
  hint?: ReactNode
  error?: string | undefined
  optional?: boolean
  /** Something at the right end of the label's line. */
  aside?: ReactNode
  className?: string
}

export function Field({ label, children, hint, error, optional, aside, className }: FieldProps) {
  const id = useId()
  const describedBy = error ? `${id}-error` : hint ? `${id}-hint` : undefined
  return (
    <Context value={{ id, describedBy, invalid: Boolean(error) }}>
      <div className={cx('grid gap-1.5', className)}>
        <div className="flex items-baseline justify-between gap-3">
          <label htmlFor={id} className="font-medium">
            {label}
            {optional && <span className="ml-1.5 font-normal text-fg-faint">(optional)</span>}
          </label>
          {aside}
        </div>
        {children}
        {hint && !error && (
          <p id={`${id}-hint`} className="text-[0.8125rem] text-fg-muted">
            {hint}
          </p>
        )}
        {error && (
          <p id={`${id}-error`} role="alert" className="text-[0.8125rem] text-danger-text">
            {error}
          </p>
        )}
      </div>
    </Context>
  )
}
