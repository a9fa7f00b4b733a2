import { useAppFilter } from '../../lib/api/apps.ts'
import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'
import { TableMenu, type TableMenuProps } from '../../ui/table-menu.tsx'
import { type ResellerFilter, statusFacts } from './filter.ts'

export interface ResellerFiltersProps {
  values: ResellerFilter
  onChange: (changes: Partial<Record<keyof ResellerFilter, string | undefined>>) => void
  apps: { _id: string; name: string }[]
  /** The selected app, which `apps` may not contain. */
  app: { _id: string; name: string } | undefined
  table: TableMenuProps
}

export function ResellerFilters({ values, onChange, apps, app, table }: ResellerFiltersProps) {
  const appFilter = useAppFilter(apps, app)
  return (
    <FilterBar active={Object.values(values).filter(Boolean).length}>
      <FilterSearch
        label="Search resellers"
        placeholder="Search by email"
        value={values.search}
        onChange={(search) => onChange({ search })}
      />
      <FilterSelect {...appFilter} value={values.app} onChange={(id) => onChange({ app: id })} />
      <FilterSelect
        label="Status"
        unset="Any status"
        options={Object.entries(statusFacts).map(([value, { label }]) => ({ value, label }))}
        value={values.status}
        onChange={(status) => onChange({ status })}
      />
      <TableMenu {...table} />
    </FilterBar>
  )
}
