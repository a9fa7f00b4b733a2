import { limits, type MemberRole } from '@keyward/contract'
import { X } from 'lucide-react'
import { useState } from 'react'
import { toAppOptions, useApps, useFindApps } from '../../lib/api/apps.ts'
import { roleFacts } from '../../lib/format/roles.ts'
import { IconButton } from '../../ui/button.tsx'
import { Choice } from '../../ui/choice.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'

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

/** All apps, or a list of some. */
export function AppsField({ value, onChange, error }: AppsFieldProps) {
  const apps = useApps().data ?? []
  const find = useFindApps()
  const [found, setFound] = useState<{ _id: string; name: string }[]>([])
  const named = [...apps, ...found]
  const chosen = value ?? []
  const options = toAppOptions(apps).filter((option) => !chosen.includes(option.value))
  const search =
    find &&
    (async (text: string) => {
      const all = await find(text)
      setFound((known) => [...known, ...all.map((option) => ({ _id: option.value, name: option.label }))])
      return all.filter((option) => !chosen.includes(option.value))
    })
  return (
    <div className="grid gap-3">
      <div className="grid gap-1.5">
        <p aria-hidden className="font-medium">
          Apps
        </p>
        <Choice
          label="Apps"
          value={value === null ? 'all' : 'some'}
          onChange={(next) => onChange(next === 'all' ? null : [])}
          options={[
            { value: 'all', label: 'All apps' },
            { value: 'some', label: 'Some apps' },
          ]}
        />
      </div>
      {value !== null && (
        <>
          {chosen.length > 0 && (
            <ul aria-label="Chosen apps" className="divide-y rounded-lg border">
              {chosen.map((id) => {
                const name = named.find(({ _id }) => _id === id)?.name ?? id
                return (
                  <li key={id} className="flex items-center gap-2 py-1 pr-1 pl-3">
                    <span className="min-w-0 flex-1 truncate" title={name}>
                      {name}
                    </span>
                    <IconButton
                      label={`Remove ${name}`}
                      onClick={() => onChange(chosen.filter((other) => other !== id))}
                    >
                      <X />
                    </IconButton>
                  </li>
                )
              })}
            </ul>
          )}
          <Field
            label="Add an app"
            hint="Of the other apps, this person sees nothing: no list, no figure, no record."
            error={error}
          >
            <Select
              value={undefined}
              placeholder={options.length > 0 || find ? 'Choose an app' : 'All apps are chosen'}
              disabled={(options.length === 0 && !find) || chosen.length >= limits.memberAppsMax}
              options={options}
              find={search}
              onChange={(id) => onChange([...chosen, id])}
            />
          </Field>
        </>
      )}
    </div>
  )
}
