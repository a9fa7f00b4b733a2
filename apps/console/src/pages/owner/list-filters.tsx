import { useAppFilter } from '../../lib/api/apps.ts'
import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'
import { TableMenu, type TableMenuProps } from '../../ui/table-menu.tsx'

type Values = Record<'app' | 'status' | 'search' | 'sort', string | undefined>

export interface ListFiltersProps {
  search: { label: string; placeholder: string }
  apps: { _id: string; name: string }[]
  /** The selected app, which `apps` may not contain. */
  app: { _id: string; name: string } | undefined
  statuses: Record<string, { label: string }>
  values: Values
  onChange: (changes: Partial<Values>) => void
  table: TableMenuProps
}

/** The filters of licenses and end users, and the choice of columns. */
export function ListFilters({ search, apps, app, statuses, values, onChange, table }: ListFiltersProps) {
  const appFilter = useAppFilter(apps, app)
  const { sort: _order, ...narrowing } = values
  return (
    <FilterBar active={Object.values(narrowing).filter(Boolean).length}>
      <FilterSearch {...search} value={values.search} onChange={(text) => onChange({ search: text })} />
      <FilterSelect {...appFilter} value={values.app} onChange={(id) => onChange({ app: id })} />
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
      <TableMenu {...table} />
    </FilterBar>
  )
}
