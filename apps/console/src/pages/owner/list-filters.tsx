import { toAppOptions, useFindApps } from '../../lib/api/apps.ts'
import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'

type Values = Record<'app' | 'status' | 'search' | 'sort', string | undefined>

export interface ListFiltersProps {
  search: { label: string; placeholder: string }
  apps: { _id: string; name: string }[]
  /** The selected app, which `apps` may not contain. */
  app: { _id: string; name: string } | undefined
  statuses: Record<string, { label: string }>
  values: Values
  onChange: (changes: Partial<Values>) => void
}

/** The filters of licenses and end users. */
export function ListFilters({ search, apps, app, statuses, values, onChange }: ListFiltersProps) {
  const find = useFindApps()
  return (
    <FilterBar>
      <FilterSearch {...search} value={values.search} onChange={(text) => onChange({ search: text })} />
      <FilterSelect
        label="App"
        unset="All apps"
        options={toAppOptions(apps, app)}
        find={find}
        value={values.app}
        onChange={(id) => onChange({ app: id })}
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
