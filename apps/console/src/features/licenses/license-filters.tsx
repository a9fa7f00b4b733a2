import type { LicenseStatus } from '@keyward/contract'
import { SearchInput } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { statusFacts } from './status.ts'

export interface LicenseFilterValues {
  app: string | undefined
  status: LicenseStatus | undefined
  search: string | undefined
  sort: 'oldest' | undefined
}

export interface LicenseFiltersProps {
  values: LicenseFilterValues
  onChange: (changes: Partial<LicenseFilterValues>) => void
  apps: { _id: string; name: string }[]
}

const any = 'all'
const newest = 'newest'
const orders = [
  { value: newest, label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
]
const statuses = Object.entries(statusFacts).map(([value, { label }]) => ({ value, label }))

export function LicenseFilters({ values, onChange, apps }: LicenseFiltersProps) {
  return (
    <div className="flex flex-wrap gap-2 max-md:w-full">
      <SearchInput
        value={values.search ?? ''}
        onSearch={(search) => onChange({ search: search || undefined })}
        label="Search licenses"
        placeholder="Key, note or user"
        className="w-full md:w-56"
      />
      <Select
        label="App"
        value={values.app ?? any}
        onChange={(app) => onChange({ app: app === any ? undefined : app })}
        options={[
          { value: any, label: 'All apps' },
          ...apps.map((app) => ({ value: app._id, label: app.name })),
        ]}
        className="max-md:w-auto max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-40"
      />
      <Select
        label="Status"
        value={values.status ?? any}
        onChange={(status) => onChange({ status: status === any ? undefined : (status as LicenseStatus) })}
        options={[{ value: any, label: 'All statuses' }, ...statuses]}
        className="max-md:w-auto max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-36"
      />
      <Select
        label="Order"
        value={values.sort ?? newest}
        onChange={(sort) => onChange({ sort: sort === 'oldest' ? sort : undefined })}
        options={orders}
        className="max-md:w-auto max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-36"
      />
    </div>
  )
}
