import { limits, type MemberRole } from '@keyward/contract'
import { useAppsField } from '../../lib/api/apps.ts'
import { roleFacts } from '../../lib/format/roles.ts'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { SomeField } from '../../ui/some-field.tsx'

const roles = ['manager', 'support', 'viewer'] as const satisfies MemberRole[]

export interface RoleFieldProps {
  value: MemberRole
  onChange: (role: MemberRole) => void
}

export function RoleField({ value, onChange }: RoleFieldProps) {
  return (
    <Field label="Role" hint={roleFacts[value].about}>
      <Select
        value={value}
        onChange={(role) => onChange(role as MemberRole)}
        options={roles.map((role) => ({ value: role, label: roleFacts[role].label }))}
      />
    </Field>
  )
}

export interface AppsFieldProps {
  /** Ids of apps, or null for all. */
  value: readonly string[] | null
  onChange: (apps: string[] | null) => void
  error: string | undefined
}

export function AppsField(props: AppsFieldProps) {
  return (
    <SomeField
      {...useAppsField()}
      {...props}
      max={limits.memberAppsMax}
      hint="Of the other apps, this person sees nothing: no list, no figure, no record."
    />
  )
}
