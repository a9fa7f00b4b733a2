import { type ReactNode, useId } from 'react'

export interface SwitchProps {
  label: ReactNode
  description?: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
}

/** A whole row: label and description on the left, the switch on the right. */
export function Switch({ label, description, checked, onChange, disabled }: SwitchProps) {
  const id = useId()
  return (
    <div className="flex items-center justify-between gap-6">
      <div className="grid gap-0.5">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {description && (
          <p id={`${id}-about`} className="text-[0.8125rem] text-fg-muted">
            {description}
          </p>
        )}
      </div>
      <button
        type="button"
        role="switch"
        id={id}
        aria-checked={checked}
        aria-describedby={description ? `${id}-about` : undefined}
        disabled={disabled}
        onClick={() => onChange(!checked)}
        className="group h-6 w-10.5 shrink-0 rounded-full bg-line-strong transition-colors disabled:opacity-50 aria-checked:bg-accent"
      >
        <span className="block size-5 translate-x-0.5 rounded-full bg-white shadow-soft transition-transform group-aria-checked:translate-x-5" />
      </button>
    </div>
  )
}
