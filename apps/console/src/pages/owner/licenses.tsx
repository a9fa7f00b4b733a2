import { limits } from '@keyward/contract'
import { KeyRound, Plus, Sparkles, Trash2, Upload } from 'lucide-react'
import { useNavigate } from 'react-router'
import { useApps } from '../../features/apps/queries.ts'
import { licenseColumns } from '../../features/licenses/license-columns.tsx'
import {
  LicenseDialog,
  licenseBulkDialogs,
  licenseDialogs,
} from '../../features/licenses/license-dialogs.tsx'
import { LicenseMenu } from '../../features/licenses/license-menu.tsx'
import { LicenseStats } from '../../features/licenses/license-stats.tsx'
import { useLicenses } from '../../features/licenses/queries.ts'
import { statusFilters } from '../../features/licenses/status.ts'
import { useOwner } from '../../lib/api/account.ts'
import { call } from '../../lib/api/call.ts'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { tableState, useLastPage, usePage } from '../../lib/list/list-page.ts'
import { useSavedViews } from '../../lib/list/saved-views.ts'
import { fromHeaderSort, toHeaderSort } from '../../lib/list/sorting.ts'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { useFilters } from '../../lib/list/use-filters.ts'
import { useSelection } from '../../lib/list/use-selection.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { FiltersSkeleton } from '../../ui/filters-skeleton.tsx'
import { MenuItem } from '../../ui/menu.tsx'
import { MoreMenu } from '../../ui/more-menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Callout, EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { type TableView, useTableView } from '../../ui/table-view.ts'
import { toast } from '../../ui/toast.tsx'

const NoApps = lazyNamed(() => import('./no-apps.tsx'), 'NoApps')
const LicenseSelection = lazyNamed(
  () => import('../../features/licenses/license-bulk.tsx'),
  'LicenseSelection',
)
const deleteDialogs = () => import('../../features/licenses/delete-dialogs.tsx')
const DeleteAllDialog = lazyNamed(deleteDialogs, 'DeleteAllDialog')
const GenerateDialog = lazyNamed(
  () => import('../../features/licenses/generate-dialog.tsx'),
  'GenerateDialog',
)
const loadFilters = () => import('./list-filters.tsx')
const ListFilters = lazyNamed(loadFilters, 'ListFilters')
const SavedViews = lazyNamed(loadFilters, 'SavedViews')
const Pagination = lazyNamed(() => import('../../ui/pagination.tsx'), 'Pagination')

const pageSize = 25
const subtitle = 'Issue license keys for your apps and see who uses them.'
const bulkDialogs = Object.keys(licenseBulkDialogs) as (keyof typeof licenseBulkDialogs)[]
const dialogsFor = (app: string | undefined) => ({
  generate: [wire.licenses.create],
  'delete-all': [
    app === undefined
      ? wire.licenses.removeAll
      : { call: wire.licenses.removeAll, part: 'with app' as const },
  ],
  ...licenseDialogs,
  ...licenseBulkDialogs,
})

export function LicensesPage() {
  const owner = useOwner()
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
  const query = { ...filters, banned: 'apart' } as const
  const filtered = isCommon || Boolean(origin.type || origin.reseller)
  const { page, turnTo } = usePage()
  const dialog = useCallDialog(dialogsFor(app?._id))
  const may = useMay()
  const navigate = useNavigate()
  const [view, setView] = useTableView('licenses', owner.data?._id)
  const [views, setViews] = useSavedViews<TableView>('licenses', owner.data?._id)
  const saved = { views, onChange: setViews, columns: view, onColumns: setView }

  const hasApps = (apps.data?.length ?? 0) > 0
  const licenses = useLicenses({ ...query, sort, page, limit: pageSize }, hasApps && !resolving)
  const data = resolving ? undefined : licenses.data
  useLastPage(licenses.isPlaceholderData ? undefined : data?.pagination.pages)
  const shown = tableState(licenses, 'Failed to fetch licenses', unresolved ?? apps, clearFilters)
  const selection = useSelection(data?.licenses, JSON.stringify(filters))
  const bulk = bulkDialogs.find((kind) => kind === dialog.kind)
  const chosen = useChosen(data?.licenses, dialog.id)

  const all = (data?.pagination.total ?? 0) > selection.rows.length &&
    data?.licenses.every(({ _id }) => selection.ids.has(_id)) && {
      total: data.pagination.total,
      read: async (page: number, signal: AbortSignal) =>
        (
          await call(wire.licenses.list, {
            query: { ...query, sort: 'oldest', page, limit: limits.pageSizeMax },
            signal,
          })
        ).licenses,
      onChosen: selection.add,
    }
  const fixed = app ? ['app'] : []

  function deleteAll() {
    if (data?.stats.total === 0) toast.info('No licenses to delete')
    else dialog.open('delete-all')
  }

  const exportAs = async (format: 'csv' | 'json') =>
    (await import('./export-list.ts')).exportList({
      endpoint: wire.bulk.exportLicenses,
      filters: query,
      format,
      noun: 'licenses',
      pagination: data?.pagination,
    })

  if (apps.isSuccess && !hasApps) {
    return (
      <div className="grid gap-3 md:gap-6">
        <PageHeader title="Licenses" subtitle={subtitle} />
        <NoApps icon={<KeyRound />} reason="A license belongs to an app." />
      </div>
    )
  }

  const limit = owner.data?.maxLicensesPerApp ?? limits.free.maxLicensesPerApp
  const generateButton = dialog.may('generate') && (
    <Button variant="primary" onClick={() => dialog.open('generate')} disabled={!hasApps}>
      <Plus />
      Generate License
    </Button>
  )

  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="Licenses"
        subtitle={subtitle}
        actions={
          <>
            <MoreMenu
              scope={filtered ? 'matching licenses' : 'all licenses'}
              empty={!data || data.pagination.total === 0}
              onExport={exportAs}
            >
              {may(wire.imports.create, wire.clients.createDirect) && (
                <MenuItem
                  icon={<Upload />}
                  disabled={!hasApps}
                  onSelect={() => navigate(listPath(paths.imports, { app: app?._id, dialog: 'new-import' }))}
                >
                  Import licenses
                </MenuItem>
              )}
            </MoreMenu>
            {dialog.may('delete-all') && (
              <Button variant="dangerQuiet" onClick={deleteAll} disabled={!data}>
                <Trash2 />
                Delete All
              </Button>
            )}
          </>
        }
        primary={generateButton}
      />

      {owner.data?.plan === 'free' && may(wire.plans.subscription) && (
        <Callout
          tone="accent"
          icon={<Sparkles aria-hidden />}
          className={data ? 'max-md:order-last' : 'max-md:hidden'}
          action={
            <May call={wire.payments.createOrder}>
              <Button asChild size="sm">
                <a href={paths.subscription}>Upgrade Now</a>
              </Button>
            </May>
          }
        >
          {`Each app is limited to ${limit} licenses. Upgrade for unlimited licenses.`}
        </Callout>
      )}

      <LicenseStats stats={data?.stats} loading={shown.loading} app={app} />

      <div className="min-w-0">
        {views.length > 0 && (
          <Deferred fallback={<div className="h-11" />}>
            <SavedViews {...saved} />
          </Deferred>
        )}
        <Card>
          <CardHeader
            title="Recent Licenses"
            filters
            actions={
              <Deferred fallback={<FiltersSkeleton />}>
                <ListFilters
                  search={{ label: 'Search licenses', placeholder: 'Key, e-mail, order, note …' }}
                  apps={apps.data ?? []}
                  app={app}
                  statuses={statusFilters}
                  values={{ ...filters, sort }}
                  onChange={setFilters}
                  table={{ columns: licenseColumns, view, fixed, onChange: setView }}
                  saved={saved}
                />
              </Deferred>
            }
          />
          <Table
            caption={`Licenses, ${sort ?? 'newest'}`}
            selection={{ selected: selection.ids, onChange: selection.select }}
            columns={licenseColumns}
            view={view}
            fixed={fixed}
            rows={data?.licenses}
            sort={toHeaderSort(sort, 'created')}
            onSort={(by) => setFilters({ sort: fromHeaderSort(by) })}
            rowKey={(license) => license._id}
            rowLabel={(license) => keyPrefix(license.key)}
            rowMenu={(license) => (
              <LicenseMenu license={license} onAction={(action) => dialog.open(action, license._id)} />
            )}
            {...shown}
            skeletonRows={8}
            empty={
              <EmptyState
                icon={<KeyRound />}
                title="No licenses found"
                description={
                  filtered
                    ? 'No results match your search and filters.'
                    : generateButton
                      ? 'Generate a key and hand it to a customer. This list shows when it is used.'
                      : 'Licenses appear here once somebody in your team generates them.'
                }
                actions={filtered ? <Button onClick={clearFilters}>Clear filters</Button> : generateButton}
              />
            }
          />
          {data && (
            <Deferred fallback={<div className="h-13 border-t" />}>
              <Pagination
                page={page}
                limit={pageSize}
                total={data.pagination.total}
                onPage={turnTo}
                noun={data.pagination.capped ? 'licenses and more' : 'licenses'}
              />
            </Deferred>
          )}
        </Card>
        {(selection.rows.length > 0 || bulk) && (
          <Deferred onFail={() => selection.select([])}>
            <LicenseSelection
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

      <LicenseDialog kind={dialog.kind} license={chosen} onClose={dialog.close} />
      <DialogSlot>
        {dialog.kind === 'generate' && hasApps && (
          <GenerateDialog onClose={dialog.close} apps={apps.data ?? []} appId={app?._id} />
        )}
        {dialog.kind === 'delete-all' && data && data.stats.total > 0 && (
          <DeleteAllDialog app={app} count={data.stats.total} onClose={dialog.close} />
        )}
      </DialogSlot>
    </div>
  )
}
