import { useAppFilter } from '../../lib/api/apps.ts'
import { useFindTypes, useLicenseTypes } from '../../lib/api/license-types.ts'
import { useResellerOptions } from '../../lib/api/resellers.ts'
import { type SortName, sortWords } from '../../lib/list/sort-words.ts'
import type { FilterName } from '../../lib/list/use-filters.ts'
import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'
import { SavedViews, type SavedViewsProps, SaveView } from '../../ui/saved-views.tsx'
import type { SelectOption } from '../../ui/select-props.ts'
import { TableMenu, type TableMenuProps } from '../../ui/table-menu.tsx'

export { SavedViews }

type Values = Partial<Record<FilterName | 'sort', string | undefined>>

export interface ListFiltersProps {
  search: { label: string; placeholder: string }
  apps: { _id: string; name: string }[]
  /** The selected app, which `apps` may not contain. */
  app: { _id: string; name: string } | undefined
  /** No status can be chosen where there is none. */
  statuses: Record<string, { label: string }>
  anyStatus?: string | undefined
  values: Values
  sorts: readonly SortName[]
  onChange: (changes: Partial<Values>) => void
  table: TableMenuProps
  saved?: SavedViewsProps | undefined
}

/** The filters of a list of the owner, as far as `values` names them, and the choice of columns. */
export function ListFilters({
  search,
  apps,
  app,
  statuses,
  anyStatus = 'All statuses',
  values,
  sorts,
  onChange,
  table,
  saved,
}: ListFiltersProps) {
  const appFilter = useAppFilter(apps, app)
  const appWithOrigin = 'type' in values ? app?._id : undefined
  const types = useLicenseTypes(appWithOrigin).data ?? []
  const findAll = useFindTypes(apps)
  const findTypes = 'type' in values && !app ? findAll : undefined
  const resellers = useResellerOptions(appWithOrigin)
  const statusOptions = Object.entries(statuses).map(([value, { label }]) => ({ value, label }))
  return (
    <FilterBar values={values}>
      <FilterSearch {...search} value={values.search} onChange={(text) => onChange({ search: text })} />
      <FilterSelect {...appFilter} value={values.app} onChange={(id) => onChange({ app: id })} />
      {statusOptions.length > 0 && (
        <FilterSelect
          label="Status"
          unset={anyStatus}
          options={statusOptions}
          value={values.status}
          onChange={(status) => onChange({ status })}
        />
      )}
      {(types.length > 0 || values.type || findTypes) && (
        <FilterSelect
          label="License type"
          unset="All types"
          options={withChosen(
            types.map(({ _id, name }) => ({ value: _id, label: name })),
            values.type,
            'One type',
          )}
          value={values.type}
          find={findTypes}
          onChange={(chosen) => {
            const [of, type] = chosen?.split('/') ?? []
            onChange(type ? { app: of, type } : { type: of })
          }}
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
      {'sort' in values && (
        <FilterSelect
          label="Order"
          unset="Newest first"
          options={sorts.map((value) => ({ value, label: sortWords[value] }))}
          value={values.sort}
          onChange={(sort) => onChange({ sort })}
        />
      )}
      <TableMenu {...table} />
      {saved && <SaveView {...saved} />}
    </FilterBar>
  )
}

/** A link may choose a type or reseller of an app that is not chosen. */
const withChosen = (options: SelectOption[], chosen: string | undefined, label: string) =>
  chosen === undefined || options.some(({ value }) => value === chosen)
    ? options
    : [{ value: chosen, label }, ...options]
