import { useAppFilter } from '../../lib/api/apps.ts'
import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'
import { TableMenu, type TableMenuProps } from '../../ui/table-menu.tsx'

interface Values {
  app: string | undefined
  search: string | undefined
}

export interface CustomerFiltersProps {
  values: Values
  onChange: (changes: Partial<Values>) => void
  apps: { _id: string; name: string }[]
  /** The selected app, which `apps` may not contain. */
  app: { _id: string; name: string } | undefined
  table: TableMenuProps
}

export function CustomerFilters({ values, onChange, apps, app, table }: CustomerFiltersProps) {
  const appFilter = useAppFilter(apps, app)
  return (
    <FilterBar active={[values.app, values.search].filter(Boolean).length}>
      <FilterSearch
        label="Search customers"
        placeholder="Search by email or name"
        value={values.search}
        onChange={(search) => onChange({ search })}
      />
      <FilterSelect {...appFilter} value={values.app} onChange={(id) => onChange({ app: id })} />
      <TableMenu {...table} />
    </FilterBar>
  )
}
