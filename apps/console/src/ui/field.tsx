import { createContext, type ReactNode, useContext, useId } from 'react'
import { cx } from './cx.ts'

interface FieldContext {
  id: string
  describedBy: string | undefined
  invalid: boolean
}
const Context = createContext<FieldContext | null>(null)

/** Attributes that connect a control with the label, hint and error of its Field. */
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
  /** Pass it (even undefined) for a field that can be invalid: it reserves the line of the error. */
  error?: string | undefined
  optional?: boolean
  /** An action at the right end of the label's line. */
  action?: ReactNode
  className?: string
}

export function Field(props: FieldProps) {
  const { label, children, hint, error, optional, action, className } = props
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
          {action}
        </div>
        {children}
        {(hint || 'error' in props) && (
          <div className={cx('grid min-h-5 text-[0.8125rem] *:col-start-1 *:row-start-1', !hint && '-mb-2')}>
            {hint && (
              <p id={`${id}-hint`} className={cx('text-fg-muted', error && 'invisible')}>
                {hint}
              </p>
            )}
            {error && (
              <p id={`${id}-error`} role="alert" className="text-danger-text">
                {error}
              </p>
            )}
          </div>
        )}
      </div>
    </Context>
  )
}
