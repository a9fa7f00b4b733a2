import type { InputHTMLAttributes } from 'react'
import type { DurationUnit } from '../../lib/format/dates.ts'
import { Field } from '../../ui/field.tsx'
import { NumberInput } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { durationUnits } from './expiry.ts'

export interface DurationFieldsProps {
  label: string
  unit: DurationUnit
  onUnit: (unit: DurationUnit) => void
  input: InputHTMLAttributes<HTMLInputElement>
  error?: string | undefined
}

export function DurationFields({ label, unit, onUnit, input, error }: DurationFieldsProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)] items-start gap-3">
      <Field label={label} error={error}>
        <NumberInput {...input} />
      </Field>
      <Field label="Expiry Unit">
        <Select value={unit} onChange={(value) => onUnit(value as DurationUnit)} options={durationUnits} />
      </Field>
    </div>
  )
}
