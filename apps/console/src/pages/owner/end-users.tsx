import { limits } from '@keyward/contract'
import { BookOpen, KeyRound, UserPlus, Users } from 'lucide-react'
import { Link } from 'react-router'
import { useApps } from '../../features/apps/queries.ts'
import { endUserColumns } from '../../features/end-users/end-user-columns.tsx'
import {
  EndUserDialog,
  endUserBulkDialogs,
  endUserDialogs,
} from '../../features/end-users/end-user-dialogs.tsx'
import { EndUserMenu } from '../../features/end-users/end-user-menu.tsx'
import { EndUserCounts, EndUserStats } from '../../features/end-users/end-user-stats.tsx'
import { useEndUsers } from '../../features/end-users/queries.ts'
import { RegistrationExplainer } from '../../features/end-users/registration-explainer.tsx'
import { statusFilters } from '../../features/end-users/status.ts'
import { useOwner } from '../../lib/api/account.ts'
import { call } from '../../lib/api/call.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { tableState, useLastPage, usePage } from '../../lib/list/list-page.ts'
import { useSavedViews } from '../../lib/list/saved-views.ts'
import { fromHeaderSort, toHeaderSort } from '../../lib/list/sorting.ts'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { useFilters } from '../../lib/list/use-filters.ts'
import { useSelection } from '../../lib/list/use-selection.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { FiltersSkeleton } from '../../ui/filters-skeleton.tsx'
import { MoreMenu } from '../../ui/more-menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { type TableView, useTableView } from '../../ui/table-view.ts'

const EndUserSelection = lazyNamed(
  () => import('../../features/end-users/end-user-bulk.tsx'),
  'EndUserSelection',
)
const NoApps = lazyNamed(() => import('./no-apps.tsx'), 'NoApps')
const CreateEndUserDialog = lazyNamed(
  () => import('../../features/end-users/create-dialog.tsx'),
  'CreateEndUserDialog',
)
const loadFilters = () => import('./list-filters.tsx')
const ListFilters = lazyNamed(loadFilters, 'ListFilters')
const SavedViews = lazyNamed(loadFilters, 'SavedViews')
const Pagination = lazyNamed(() => import('../../ui/pagination.tsx'), 'Pagination')

const pageSize = 25
const subtitle = 'Manage end users who have registered using your license keys.'
const bulkDialogs = Object.keys(endUserBulkDialogs) as (keyof typeof endUserBulkDialogs)[]
const dialogs = { create: [wire.clients.createDirect], ...endUserDialogs, ...endUserBulkDialogs }

export function EndUsersPage() {
  const apps = useApps()
  const {
    app,
    resolving,
    unresolved,
    filters: common,
    origin,
    sort,
    filtered: isCommon,
    setFilters,
    clearFilters,
  } = useFilters(statusFilters)
  const filters = { ...common, ...origin }
  const filtered = isCommon || Boolean(origin.type || origin.reseller)
  const { page, turnTo } = usePage()
  const dialog = useCallDialog(dialogs)
  const account = useOwner().data?._id
  const [view, setView] = useTableView('end-users', account)
  const [views, setViews] = useSavedViews<TableView>('end-users', account)
  const saved = { views, onChange: setViews, columns: view, onColumns: setView }

  const hasApps = (apps.data?.length ?? 0) > 0
  const users = useEndUsers({ ...filters, sort, page, limit: pageSize }, hasApps && !resolving)
  const data = resolving ? undefined : users.data
  useLastPage(users.isPlaceholderData ? undefined : data?.pagination.pages)
  const shown = tableState(users, 'Failed to load users', unresolved ?? apps, clearFilters)
  const selection = useSelection(data?.clients, JSON.stringify(filters))
  const mayChange = bulkDialogs.some(dialog.may)
  const bulk = bulkDialogs.find((kind) => kind === dialog.kind)
  const chosen = useChosen(data?.clients, dialog.id)

  const all = (data?.pagination.total ?? 0) > selection.rows.length &&
    data?.clients.every(({ _id }) => selection.ids.has(_id)) && {
      total: data.pagination.total,
      read: async (page: number, signal: AbortSignal) =>
        (
          await call(wire.clients.list, {
            query: { ...filters, sort: 'oldest', page, limit: limits.pageSizeMax },
            signal,
          })
        ).clients,
      onChosen: selection.add,
    }
  const fixed = app ? ['app'] : []

  const exportAs = async (format: 'csv' | 'json') =>
    (await import('./export-list.ts')).exportList({
      endpoint: wire.bulk.exportClients,
      filters,
      format,
      noun: 'end users',
      pagination: data?.pagination,
    })

  if (apps.isSuccess && !hasApps) {
    return (
      <div className="grid gap-3 md:gap-6">
        <PageHeader title="End Users" subtitle={subtitle} />
        <NoApps icon={<Users />} reason="An end user belongs to an app." />
      </div>
    )
  }

  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="End Users"
        subtitle={subtitle}
        actions={
          <MoreMenu
            scope={filtered ? 'matching end users' : 'all end users'}
            empty={!data || data.pagination.total === 0}
            onExport={exportAs}
          />
        }
        primary={
          dialog.may('create') && (
            <Button variant="primary" onClick={() => dialog.open('create')} disabled={!hasApps}>
              <UserPlus />
              Create End User
            </Button>
          )
        }
      />
      <EndUserStats stats={data?.stats} loading={shown.loading} app={app} />

      <div className="min-w-0">
        {views.length > 0 && (
          <Deferred fallback={<div className="h-11" />}>
            <SavedViews {...saved} />
          </Deferred>
        )}
        <Card>
          <CardHeader
            title="Registered users"
            description={<EndUserCounts stats={data?.stats} />}
            stacked
            filters
            actions={
              <Deferred fallback={<FiltersSkeleton />}>
                <ListFilters
                  search={{ label: 'Search end users', placeholder: 'Name, e-mail, device …' }}
                  apps={apps.data ?? []}
                  app={app}
                  statuses={statusFilters}
                  values={{ ...filters, sort }}
                  onChange={setFilters}
                  table={{ columns: endUserColumns, view, fixed, onChange: setView }}
                  saved={saved}
                />
              </Deferred>
            }
          />
          <Table
            caption={`End users, ${sort ?? 'newest'}`}
            selection={mayChange ? { selected: selection.ids, onChange: selection.select } : undefined}
            columns={endUserColumns}
            view={view}
            fixed={fixed}
            rows={data?.clients}
            sort={toHeaderSort(sort, 'joined')}
            onSort={(by) => setFilters({ sort: fromHeaderSort(by) })}
            rowKey={(user) => user._id}
            rowLabel={(user) => user.username}
            rowMenu={(user) => (
              <EndUserMenu user={user} onAction={(action) => dialog.open(action, user._id)} />
            )}
            {...shown}
            skeletonRows={8}
            empty={
              filtered ? (
                <EmptyState
                  icon={<Users />}
                  title="No end users found"
                  description="No results match your search and filters."
                  actions={<Button onClick={clearFilters}>Clear filters</Button>}
                />
              ) : (
                <EmptyState
                  icon={<Users />}
                  title="No end users yet"
                  description="End users appear here once they register in your program with one of your license keys."
                  actions={
                    <>
                      <May call={wire.licenses.create}>
                        <Button asChild variant="primary">
                          <Link to={paths.licenses}>
                            <KeyRound />
                            Generate licenses
                          </Link>
                        </Button>
                      </May>
                      <Button asChild>
                        <a href={paths.docs}>
                          <BookOpen />
                          API docs
                        </a>
                      </Button>
                    </>
                  }
                />
              )
            }
          />
          {data && (
            <Deferred fallback={<div className="h-13 border-t" />}>
              <Pagination
                page={page}
                limit={pageSize}
                total={data.pagination.total}
                onPage={turnTo}
                noun={data.pagination.capped ? 'end users and more' : 'end users'}
              />
            </Deferred>
          )}
        </Card>
        {mayChange && (selection.rows.length > 0 || bulk) && (
          <Deferred onFail={() => selection.select([])}>
            <EndUserSelection
              rows={selection.rows}
              all={all || undefined}
              onSelect={selection.select}
              dialog={bulk}
              may={dialog.may}
              onOpen={dialog.open}
              onClose={dialog.close}
            />
          </Deferred>
        )}
      </div>

      {data && <RegistrationExplainer account={account} done={data.stats.total > 0} />}
      <EndUserDialog kind={dialog.kind} user={chosen} onClose={dialog.close} />
      <DialogSlot>
        {dialog.kind === 'create' && hasApps && (
          <CreateEndUserDialog onClose={dialog.close} apps={apps.data ?? []} appId={app?._id} />
        )}
      </DialogSlot>
    </div>
  )
}
