import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'

type Values = Record<'app' | 'status' | 'search' | 'sort', string | undefined>

export interface ListFiltersProps {
  search: { label: string; placeholder: string }
  apps: { _id: string; name: string }[]
  statuses: Record<string, { label: string }>
  values: Values
  onChange: (changes: Partial<Values>) => void
}

/** Above the lists of licenses and of end users. */
export function ListFilters({ search, apps, statuses, values, onChange }: ListFiltersProps) {
  return (
    <FilterBar>
      <FilterSearch {...search} value={values.search} onChange={(text) => onChange({ search: text })} />
      <FilterSelect
        label="App"
        unset="All apps"
        options={apps.map(({ _id, name }) => ({ value: _id, label: name }))}
        value={values.app}
        onChange={(app) => onChange({ app })}
      />
      <FilterSelect
        label="Status"
        unset="All statuses"
        options={Object.entries(statuses).map(([value, { label }]) => ({ value, label }))}
        value={values.status}
        onChange={(status) => onChange({ status })}
      />
      <FilterSelect
        label="Order"
        unset="Newest first"
        options={[{ value: 'oldest', label: 'Oldest first' }]}
        value={values.sort}
        onChange={(sort) => onChange({ sort })}
      />
    </FilterBar>
  )
}
