import { limits, type MemberRole, type Permission } from '@keyward/contract'
import { customPermissions, rolePermissions } from '@keyward/contract/permissions'
import { useAppsField } from '../../lib/api/apps.ts'
import { nouns, permissionOf, verbs } from '../../lib/format/permissions.ts'
import { roleFacts } from '../../lib/format/roles.ts'
import { CheckTable } from '../../ui/check-table.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { SomeField } from '../../ui/some-field.tsx'

const roles = ['manager', 'support', 'viewer', 'custom'] as const satisfies MemberRole[]

export interface RoleValue {
  role: MemberRole
  /** What a role of its own may do. */
  permissions?: Permission[] | undefined
}

export interface RoleFieldsProps {
  value: RoleValue
  onChange: (value: RoleValue) => void
  error: string | undefined
}

const may = new Set(customPermissions)
const permissionOfRole = (noun: string, verb: string) => {
  const permission = permissionOf(noun, verb)
  return permission && may.has(permission) ? permission : undefined
}

/** A role, and each permission of one of its own, which begins with those of the role before. */
export function RoleFields({ value: { role, permissions }, onChange, error }: RoleFieldsProps) {
  return (
    <div className="grid gap-3">
      <Field
        label="Role"
        hint={
          <>
            {roleFacts[role].about}
            {role !== 'custom' && <span className="mt-1 block">{lackedBy(role)}</span>}
          </>
        }
        error={error}
      >
        <Select
          value={role}
          onChange={(next) => onChange(toRole(next as MemberRole, role))}
          options={roles.map((one) => ({ value: one, label: roleFacts[one].label }))}
        />
      </Field>
      {role === 'custom' && (
        <CheckTable
          caption="Each permission"
          heading="The member may"
          rows={nouns}
          columns={verbs}
          cellOf={permissionOfRole}
          value={permissions ?? []}
          onChange={(next) => onChange({ role, permissions: next })}
        />
      )}
    </div>
  )
}

/** What members of a role may not do. */
export function lackedBy(role: Exclude<MemberRole, 'custom'>): string {
  const has = (noun: string, verb: string) =>
    rolePermissions[role].some((permission) => permission === `${noun}:${verb}`)
  const all = Object.entries({ ...nouns, members: 'Members' })
  const changesAny = all.some(([noun]) => has(noun, 'write'))
  const lacks = {
    see: all.filter(([noun]) => !has(noun, 'read')),
    change: all.filter(
      ([noun]) => changesAny && has(noun, 'read') && permissionOf(noun, 'write') && !has(noun, 'write'),
    ),
    delete: all.filter(
      ([noun]) => has(noun, 'write') && permissionOf(noun, 'delete') && !has(noun, 'delete'),
    ),
  }
  return Object.entries(lacks)
    .filter(([, lacked]) => lacked.length > 0)
    .map(([verb, lacked]) => `Does not ${verb}: ${lacked.map(([, name]) => name.toLowerCase()).join(', ')}.`)
    .join(' ')
}

const toRole = (role: MemberRole, before: MemberRole): RoleValue =>
  role === 'custom' && before !== 'custom'
    ? { role, permissions: rolePermissions[before].filter((permission) => may.has(permission)) }
    : { role }

/** What the form of a member's rights still lacks. */
export const lacksOf = ({ role, permissions }: RoleValue): string | undefined =>
  role === 'custom' && !permissions?.length ? 'Choose at least one permission' : undefined

export interface AppsFieldProps {
  /** Ids of apps, null for all, or undefined before either is chosen. */
  value: readonly string[] | null | undefined
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
