import { type ReactNode, useId } from 'react'
import { cx } from './cx.ts'

export interface ChoiceProps<Value extends string> {
  label: string
  /** Undefined while none is selected. */
  value: Value | undefined
  onChange: (value: Value) => void
  options: { value: Value; label: ReactNode; icon?: ReactNode }[]
  className?: string
}

/** A few options side by side, one of them selected at most. */
export function Choice<Value extends string>({
  label,
  value,
  onChange,
  options,
  className,
}: ChoiceProps<Value>) {
  const name = useId()
  return (
    <fieldset className={cx('grid auto-cols-fr grid-flow-col gap-1 rounded-lg bg-sunken p-1', className)}>
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={cx(
            'flex h-9 cursor-pointer items-center justify-center gap-2 rounded-md px-3 font-medium transition-colors [&_svg]:size-4',
            'has-focus-visible:outline-2 has-focus-visible:outline-accent-text',
            option.value === value
              ? 'bg-surface text-fg shadow-soft dark:bg-hover'
              : 'text-fg-muted hover:text-fg',
          )}
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.icon}
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
