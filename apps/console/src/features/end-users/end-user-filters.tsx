import type { ClientStatus } from '@keyward/contract'
import { SearchInput } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { statusFacts } from './status.ts'

export interface EndUserFilterValues {
  app: string | undefined
  status: ClientStatus | undefined
  search: string | undefined
  sort: 'oldest' | undefined
}

export interface EndUserFiltersProps {
  values: EndUserFilterValues
  onChange: (changes: Partial<EndUserFilterValues>) => void
  apps: { _id: string; name: string }[]
}

const any = 'all'
const newest = 'newest'
const orders = [
  { value: newest, label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
]
const statuses = Object.entries(statusFacts).map(([value, { label }]) => ({ value, label }))

export function EndUserFilters({ values, onChange, apps }: EndUserFiltersProps) {
  return (
    <div className="flex flex-wrap gap-2 max-md:w-full">
      <SearchInput
        value={values.search ?? ''}
        onSearch={(search) => onChange({ search: search || undefined })}
        label="Search end users"
        placeholder="Username or key"
        className="w-full md:w-56"
      />
      <Select
        label="App"
        value={values.app ?? any}
        onChange={(app) => onChange({ app: app === any ? undefined : app })}
        options={[
          { value: any, label: 'All apps' },
          ...apps.map(({ _id, name }) => ({ value: _id, label: name })),
        ]}
        className="max-md:w-auto max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-40"
      />
      <Select
        label="Status"
        value={values.status ?? any}
        onChange={(status) => onChange({ status: status === any ? undefined : (status as ClientStatus) })}
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
