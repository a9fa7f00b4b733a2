import { limits } from '@keyward/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useOwner } from '../../lib/api/account.ts'
import { useApps } from '../../lib/api/apps.ts'
import { fieldMessage } from '../../lib/api/call.ts'
import { tableState, usePage } from '../../lib/list/list-page.ts'
import { usePageSize } from '../../lib/list/page-size.ts'
import { useSavedViews } from '../../lib/list/saved-views.ts'
import type { SortName } from '../../lib/list/sort-words.ts'
import { useFilters } from '../../lib/list/use-filters.ts'
import { useSelection } from '../../lib/list/use-selection.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Deferred } from '../../ui/deferred.tsx'
import { FiltersSkeleton } from '../../ui/filters-skeleton.tsx'
import { PageHeader, type PageHeaderProps } from '../../ui/page-header.tsx'
import { ResourceList, type ResourceListProps } from '../../ui/resource-list.tsx'
import { type TableView, useTableView } from '../../ui/table-view.ts'
import type { ListFiltersProps } from './list-filters.tsx'
import type { NoAppsProps } from './no-apps.tsx'

const loadFilters = () => import('./list-filters.tsx')
const ListFilters = lazyNamed(loadFilters, 'ListFilters')
const SavedViews = lazyNamed(loadFilters, 'SavedViews')
const NoApps = lazyNamed(() => import('./no-apps.tsx'), 'NoApps')

/** The filters, order, page and columns of an owner's list. */
export function useOwnerList<Status extends string, Sort extends SortName = never>(
  name: string,
  statuses: Record<Status, { label: string }>,
  options: { hasOrigin?: boolean; sorts?: readonly Sort[] } = {},
) {
  const owner = useOwner().data
  const apps = useApps()
  const url = useFilters(statuses, options)
  const { page } = usePage()
  const [view, onView] = useTableView(name, owner?._id)
  const size = usePageSize(owner?._id)
  const hasApps = (apps.data?.length ?? 0) > 0
  const before = url.unresolved ?? apps
  return {
    ...url,
    name,
    statuses,
    owner,
    apps,
    hasApps,
    /** Known to have no apps. */
    isWithoutApps: apps.isSuccess && !hasApps,
    page,
    size,
    /** A query that has to succeed before the list. */
    before,
    isLoading: (query: UseQueryResult) => tableState(query, '', before).loading,
    view,
    onView,
    /** The columns whose value a filter fixes. */
    fixed: url.app ? ['app'] : [],
  }
}

/** The selected rows of a list; `all` selects all rows that match its filters, once a whole page is selected. */
export function useOwnerSelection<Row extends { _id: string }>(
  filters: object,
  rows: Row[] | undefined,
  page: { pagination: { total: number } } | undefined,
  read: (query: { sort: 'oldest'; page: number; limit: number }, signal: AbortSignal) => Promise<Row[]>,
) {
  const selection = useSelection(rows, JSON.stringify(filters))
  const total = page?.pagination.total ?? 0
  const isPageSelected = rows?.every(({ _id }) => selection.ids.has(_id))
  const all = {
    total,
    read: (number: number, signal: AbortSignal) =>
      read({ sort: 'oldest', page: number, limit: limits.pageSizeMax }, signal),
    onChosen: selection.add,
  }
  return {
    ...selection,
    everything: all,
    all: isPageSelected && total > selection.rows.length ? all : undefined,
  }
}

export type OwnerListState = ReturnType<typeof useOwnerList>

export interface OwnerPageProps extends PageHeaderProps {
  list: Pick<OwnerListState, 'isWithoutApps'>
  /** What an owner without apps reads. */
  noApps: NoAppsProps
  children: ReactNode
}

/** The page of a list: its header, and the list, unless rows need an app and there is none. */
export function OwnerPage({ list, noApps, children, primary, ...header }: OwnerPageProps) {
  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader {...header} primary={!list.isWithoutApps && primary} />
      {list.isWithoutApps ? <NoApps {...noApps} /> : children}
    </div>
  )
}

type Given = 'limit' | 'onLimit' | 'filters' | 'before' | 'onClear' | 'remedy' | 'columns' | 'view' | 'fixed'

export interface OwnerListProps<Row extends { _id: string }>
  extends Omit<ResourceListProps<Row>, Given>,
    Pick<ListFiltersProps, 'search' | 'anyStatus'> {
  list: OwnerListState
  columns: ResourceListProps<Row>['columns']
  /** There are no rows at all, whatever the filters. */
  hasNoRows?: boolean
  /** The number of placeholder selects shown while the filters load. */
  selects?: number
  /** Whether views of the list can be saved. */
  hasViews?: boolean
  /** Shown below the list. */
  children?: ReactNode
}

/** A list of the owner's rows with the filters of the URL. */
export function OwnerList<Row extends { _id: string }>({
  list,
  columns,
  search,
  anyStatus,
  hasNoRows = false,
  selects,
  hasViews = false,
  children,
  ...rest
}: OwnerListProps<Row>) {
  const { app, apps, filters, sort, setFilters, clearFilters, view, onView, fixed } = list
  const isFiltered = list.filtered && !hasNoRows
  const { total = 0, capped = false } = rest.page?.pagination ?? {}
  // Longer lists have no order by user.
  const isLong = capped || total > limits.searchCountMax
  const sorts = list.sorts.filter((one) => !isLong || !one.startsWith('user_'))
  const [views, onChange] = useSavedViews<TableView>(list.name, list.owner?._id)
  const saved = { views, onChange, columns: view, onColumns: onView }
  return (
    <div className="min-w-0">
      {hasViews && views.length > 0 && (
        <Deferred fallback={<div className="h-11" />}>
          <SavedViews {...saved} />
        </Deferred>
      )}
      <ResourceList
        {...rest}
        columns={columns.map((column) =>
          column.sortable !== 'names' || sorts.some((one) => one === `${column.id}_a_to_z`)
            ? column
            : { ...column, sortable: undefined },
        )}
        view={view}
        fixed={fixed}
        {...list.size}
        before={list.before}
        onClear={isFiltered ? clearFilters : undefined}
        // A link, a saved view or a wider filter can ask for an order that so many rows do not have.
        remedy={
          fieldMessage(rest.query.error, 'sort') !== undefined && {
            remedy: { label: 'Newest First', onClick: () => setFilters({ sort: undefined }) },
          }
        }
        filters={
          (list.filtered || !hasNoRows) && (
            <Deferred fallback={<FiltersSkeleton selects={selects} />}>
              <ListFilters
                search={search}
                apps={apps.data ?? []}
                app={app}
                statuses={list.statuses}
                anyStatus={anyStatus}
                values={rest.onSort ? { ...filters, sort } : filters}
                sorts={sorts}
                onChange={setFilters}
                table={{ columns, view, fixed, onChange: onView }}
                saved={hasViews ? saved : undefined}
              />
            </Deferred>
          )
        }
      />
      {children}
    </div>
  )
}
