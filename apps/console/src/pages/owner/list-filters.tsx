import { useAppFilter } from '../../lib/api/apps.ts'
import { useLicenseTypes } from '../../lib/api/license-types.ts'
import { useResellerOptions } from '../../lib/api/resellers.ts'
import { sortWords } from '../../lib/list/sort-words.ts'
import type { FilterName } from '../../lib/list/use-filters.ts'
import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'
import { SavedViews, type SavedViewsProps, SaveView } from '../../ui/saved-views.tsx'
import type { SelectOption } from '../../ui/select-props.ts'
import { TableMenu, type TableMenuProps } from '../../ui/table-menu.tsx'

export { SavedViews }

type Values = Record<FilterName | 'sort', string | undefined>

export interface ListFiltersProps {
  search: { label: string; placeholder: string }
  apps: { _id: string; name: string }[]
  /** The selected app, which `apps` may not contain. */
  app: { _id: string; name: string } | undefined
  statuses: Record<string, { label: string }>
  values: Values
  onChange: (changes: Partial<Values>) => void
  table: TableMenuProps
  saved: SavedViewsProps
}

/** The filters of licenses and end users, and the choice of columns. */
export function ListFilters({
  search,
  apps,
  app,
  statuses,
  values,
  onChange,
  table,
  saved,
}: ListFiltersProps) {
  const appFilter = useAppFilter(apps, app)
  const types = useLicenseTypes(app?._id).data ?? []
  const resellers = useResellerOptions(app?._id)
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
      {(types.length > 0 || values.type) && (
        <FilterSelect
          label="License type"
          unset="All types"
          options={withChosen(
            types.map(({ _id, name }) => ({ value: _id, label: name })),
            values.type,
            'One type',
          )}
          value={values.type}
          onChange={(type) => onChange({ type })}
        />
      )}
      {(resellers.length > 0 || values.reseller) && (
        <FilterSelect
          label="Reseller"
          unset="All resellers"
          options={withChosen(resellers, values.reseller, 'One reseller')}
          value={values.reseller}
          onChange={(reseller) => onChange({ reseller })}
        />
      )}
      <FilterSelect
        label="Order"
        unset="Newest first"
        options={orders}
        value={values.sort}
        onChange={(sort) => onChange({ sort })}
      />
      <TableMenu {...table} />
      <SaveView {...saved} />
    </FilterBar>
  )
}

const orders = Object.entries(sortWords)
  .filter(([value]) => value !== 'newest')
  .map(([value, label]) => ({ value, label }))

/** A link may choose a type or reseller of an app that is not chosen. */
const withChosen = (options: SelectOption[], chosen: string | undefined, label: string) =>
  chosen === undefined || options.some(({ value }) => value === chosen)
    ? options
    : [{ value: chosen, label }, ...options]
