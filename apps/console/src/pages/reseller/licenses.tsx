import { KeyRound, Plus, RefreshCw, Trash2 } from 'lucide-react'
import { portalLicenseColumns } from '../../features/portal/license-columns.tsx'
import { usePortalLicenses, useRefresh } from '../../features/portal/queries.ts'
import { useReseller } from '../../features/portal/session.ts'
import { PortalLicenseStats } from '../../features/portal/stat-cards.tsx'
import { wire } from '../../lib/api/wire.ts'
import { usePage } from '../../lib/list/list-page.ts'
import { toSearch } from '../../lib/list/url-values.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useDialogParam, useUrlState } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { FiltersSkeleton } from '../../ui/filters-skeleton.tsx'
import { MoreMenu } from '../../ui/more-menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ResourceList, rowsPerPage } from '../../ui/resource-list.tsx'
import { Callout } from '../../ui/states.tsx'
import { useTableView } from '../../ui/table-view.ts'
import { toast } from '../../ui/toast.tsx'

const GenerateDialog = lazyNamed(() => import('../../features/portal/generate-dialog.tsx'), 'GenerateDialog')
const DeleteAllDialog = lazyNamed(
  () => import('../../features/portal/delete-all-dialog.tsx'),
  'DeleteAllDialog',
)

const PortalLicenseFilters = lazyNamed(
  () => import('../../features/portal/license-filters.tsx'),
  'PortalLicenseFilters',
)
const LicenseDialog = lazyNamed(() => import('../../features/portal/license-dialog.tsx'), 'LicenseDialog')
const dialogs = ['generate', 'delete-all', 'license'] as const

export function ResellerLicensesPage() {
  const reseller = useReseller().data
  const { page } = usePage()
  const [url, setUrl] = useUrlState('search', 'page')
  const search = toSearch(url.search)
  const setSearch = (next: string | undefined) => setUrl({ search: next, page: undefined })
  const licenses = usePortalLicenses({ page, limit: rowsPerPage, search })
  const refresh = useRefresh({ done: 'Data refreshed successfully', failed: 'Failed to fetch licenses' })
  const dialog = useDialogParam(dialogs)
  const [view, setView] = useTableView('licenses', reseller?._id)

  const { data } = licenses
  const stats = data?.stats
  const remaining = stats?.remaining ?? reseller?.remaining_licenses ?? 0

  function deleteAll() {
    if (stats?.total === 0) toast.info('No licenses to delete')
    else dialog.open('delete-all')
  }

  const exportAs = async (format: 'csv' | 'json') =>
    (await import('../../ui/save-export.ts')).saveExport({
      endpoint: wire.portal.exportLicenses,
      query: { search, format },
      noun: 'licenses',
      total: data?.pagination.total,
    })

  const generateButton = (
    <Button variant="primary" onClick={() => dialog.open('generate')} disabled={!stats || remaining <= 0}>
      <Plus />
      Generate License
    </Button>
  )
  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="Licenses"
        subtitle={reseller && `The license keys you generated for ${reseller.app_id.name}.`}
        actions={
          <>
            <Button onClick={() => refresh.mutate()} loading={refresh.isPending}>
              {!refresh.isPending && <RefreshCw />}
              <span className="max-md:sr-only">Refresh</span>
            </Button>
            <MoreMenu
              scope={search ? 'matching licenses' : 'all licenses'}
              empty={!data || data.pagination.total === 0}
              onExport={exportAs}
            />
            <Button variant="dangerQuiet" onClick={deleteAll} disabled={!stats}>
              <Trash2 />
              Delete All
            </Button>
          </>
        }
        primary={generateButton}
      />
      {reseller && remaining <= 0 && (
        <Callout tone="warning" title="Your license quota is used up">
          Delete licenses to free quota, or ask your administrator for a higher limit.
        </Callout>
      )}
      <PortalLicenseStats stats={stats} loading={licenses.isPending} />
      <ResourceList
        title="Your Licenses"
        noun="licenses"
        icon={<KeyRound />}
        filters={
          <Deferred fallback={<FiltersSkeleton selects={0} />}>
            <PortalLicenseFilters
              search={search}
              onSearch={setSearch}
              table={{ columns: portalLicenseColumns, view, onChange: setView }}
            />
          </Deferred>
        }
        query={licenses}
        page={data}
        rows={data?.licenses}
        failure="Failed to fetch licenses"
        onClear={search ? () => setSearch(undefined) : undefined}
        clearLabel="Clear Search"
        nothingFound="No key, user or note matches this search."
        caption="Licenses, newest first"
        columns={portalLicenseColumns}
        view={view}
        skeletonRows={8}
        empty={{
          title: 'No licenses yet',
          description:
            remaining > 0
              ? 'Generate a key and hand it to a customer. This list shows when it is used.'
              : 'Your administrator has not given you a license quota yet.',
          actions: remaining > 0 && generateButton,
        }}
      />
      <DialogSlot>
        {dialog.kind === 'generate' && stats && reseller && (
          <GenerateDialog remaining={remaining} appName={reseller.app_id.name} onClose={dialog.close} />
        )}
        {dialog.kind === 'license' && dialog.id && <LicenseDialog id={dialog.id} onClose={dialog.close} />}
        {dialog.kind === 'delete-all' && stats && stats.total > 0 && (
          <DeleteAllDialog total={stats.total} used={stats.used} onClose={dialog.close} />
        )}
      </DialogSlot>
    </div>
  )
}
