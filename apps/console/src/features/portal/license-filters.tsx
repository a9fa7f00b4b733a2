import { FilterBar, FilterSearch } from '../../ui/filters.tsx'
import { TableMenu, type TableMenuProps } from '../../ui/table-menu.tsx'

export interface PortalLicenseFiltersProps {
  search: string | undefined
  onSearch: (search: string | undefined) => void
  table: TableMenuProps
}

export function PortalLicenseFilters({ search, onSearch, table }: PortalLicenseFiltersProps) {
  return (
    <FilterBar>
      <FilterSearch
        label="Search licenses"
        placeholder="Key, user or note"
        value={search}
        onChange={onSearch}
      />
      <TableMenu {...table} />
    </FilterBar>
  )
}
