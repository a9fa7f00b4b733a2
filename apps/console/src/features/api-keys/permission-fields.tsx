import type { Permission } from '@keyward/contract'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { nouns, type Preset, permissionOf, presetOf, presets, verbs } from './permission-words.ts'

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
  const toggle = (permission: Permission, checked: boolean) =>
    onChange(checked ? [...value, permission] : value.filter((one) => one !== permission))
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
      <table className="w-full rounded-lg border text-[0.8125rem]">
        <caption className="sr-only">Each permission</caption>
        <thead className="bg-sunken text-fg-muted text-xs">
          <tr>
            <th scope="col" className="px-3 py-1.5 text-left font-medium">
              The key may
            </th>
            {verbs.map((verb) => (
              <th key={verb} scope="col" className="w-16 px-2 py-1.5 font-medium capitalize">
                {verb}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y border-t">
          {Object.entries(nouns).map(([noun, label]) => (
            <tr key={noun}>
              <th scope="row" className="px-3 py-2 text-left font-normal">
                {label}
              </th>
              {verbs.map((verb) => {
                const permission = permissionOf(noun as keyof typeof nouns, verb)
                return (
                  <td key={verb} className="px-2 py-2">
                    {permission && (
                      <div className="grid place-items-center">
                        <Checkbox
                          label={`${label}: ${verb}`}
                          checked={value.includes(permission)}
                          onChange={(checked) => toggle(permission, checked)}
                        />
                      </div>
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
