import { SearchInput } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import type { ResellerFilter } from './filter.ts'

export interface ResellerFiltersProps {
  values: ResellerFilter
  onChange: (changes: Partial<ResellerFilter>) => void
  apps: { _id: string; name: string }[]
}

export function ResellerFilters({ values, onChange, apps }: ResellerFiltersProps) {
  const pick = (value: string) => (value === 'all' ? undefined : value)
  return (
    <div className="grid w-full grid-cols-2 gap-2 md:flex md:w-auto">
      <SearchInput
        label="Search resellers"
        placeholder="Search by email"
        value={values.search ?? ''}
        onSearch={(search) => onChange({ search: search || undefined })}
        className="col-span-2 md:w-56"
      />
      <Select
        label="App"
        value={values.app ?? 'all'}
        onChange={(value) => onChange({ app: pick(value) })}
        options={[
          { value: 'all', label: 'All apps' },
          ...apps.map((app) => ({ value: app._id, label: app.name })),
        ]}
        className="md:w-36"
      />
      <Select
        label="Status"
        value={values.status ?? 'all'}
        onChange={(value) => onChange({ status: pick(value) as ResellerFilter['status'] })}
        options={[
          { value: 'all', label: 'Any status' },
          { value: 'active', label: 'Active' },
          { value: 'suspended', label: 'Suspended' },
        ]}
        className="md:w-36"
      />
    </div>
  )
}
