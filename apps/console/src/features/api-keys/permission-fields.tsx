import type { Permission } from '@keyward/contract'
import { nouns, permissionOf, verbs } from '../../lib/format/permissions.ts'
import { CheckTable } from '../../ui/check-table.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { type Preset, presetOf, presets } from './permission-words.ts'

export interface PermissionFieldsProps {
  value: readonly Permission[]
  onChange: (permissions: Permission[]) => void
  error: string | undefined
}

const options = [
  ...Object.entries(presets).map(([value, { label }]) => ({ value, label })),
  { value: 'own', label: 'Your own choice' },
]

/** A preset, and each permission that it consists of. */
export function PermissionFields({ value, onChange, error }: PermissionFieldsProps) {
  const preset = presetOf(value)
  return (
    <div className="grid gap-3">
      <Field
        label="Permissions"
        hint={preset ? presets[preset].about : 'Only what you check below.'}
        error={error}
      >
        <Select
          value={preset ?? 'own'}
          options={options}
          onChange={(chosen) => {
            if (chosen !== 'own') onChange([...presets[chosen as Preset].permissions])
          }}
        />
      </Field>
      <CheckTable
        caption="Each permission"
        heading="The key may"
        rows={nouns}
        columns={verbs}
        cellOf={permissionOf}
        value={value}
        onChange={onChange}
      />
    </div>
  )
}
