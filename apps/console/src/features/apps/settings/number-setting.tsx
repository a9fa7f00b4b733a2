import { Field } from '../../../ui/field.tsx'
import { Input } from '../../../ui/input.tsx'

export interface NumberSettingProps {
  label: string
  hint: string
  unit?: 'hours' | 'days'
  min: number
  max: number
  value: number
  onChange: (value: number) => void
}

/** A whole number within bounds; NaN while the field is empty. */
export function NumberSetting({ label, hint, unit, min, max, value, onChange }: NumberSettingProps) {
  const isValid = Number.isInteger(value) && value >= min && value <= max
  const error = ['Enter', min, 'to', max, unit].filter((part) => part !== undefined).join(' ')
  return (
    <Field label={label} hint={hint} error={isValid ? undefined : error}>
      <Input
        type="number"
        min={min}
        max={max}
        value={Number.isNaN(value) ? '' : value}
        onChange={(event) => onChange(event.target.valueAsNumber)}
      />
    </Field>
  )
}
