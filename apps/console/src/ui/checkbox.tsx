export interface CheckboxProps {
  /** Read aloud; not shown. */
  label: string
  checked: boolean | 'indeterminate'
  disabled?: boolean
  onChange: (checked: boolean) => void
}

/** A native checkbox, because tables have many of them. */
export function Checkbox({ label, checked, disabled, onChange }: CheckboxProps) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      ref={(box) => {
        if (box) box.indeterminate = checked === 'indeterminate'
      }}
      checked={checked === true}
      disabled={disabled}
      onChange={(event) => onChange(event.target.checked)}
      className="relative block size-4 cursor-pointer accent-accent disabled:cursor-default before:absolute before:-inset-1"
    />
  )
}
