import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'
import { type ResellerFilter, statusFacts } from './filter.ts'

export interface ResellerFiltersProps {
  values: ResellerFilter
  onChange: (changes: Partial<Record<keyof ResellerFilter, string | undefined>>) => void
  apps: { _id: string; name: string }[]
}

export function ResellerFilters({ values, onChange, apps }: ResellerFiltersProps) {
  return (
    <FilterBar>
      <FilterSearch
        label="Search resellers"
        placeholder="Search by email"
        value={values.search}
        onChange={(search) => onChange({ search })}
      />
      <FilterSelect
        label="App"
        unset="All apps"
        options={apps.map(({ _id, name }) => ({ value: _id, label: name }))}
        value={values.app}
        onChange={(app) => onChange({ app })}
      />
      <FilterSelect
        label="Status"
        unset="Any status"
        options={Object.entries(statusFacts).map(([value, { label }]) => ({ value, label }))}
        value={values.status}
        onChange={(status) => onChange({ status })}
      />
    </FilterBar>
  )
}
