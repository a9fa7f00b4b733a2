import { KeyRound, Plus, RefreshCw, Trash2 } from 'lucide-react'
import { Suspense } from 'react'
import { portalLicenseColumns } from '../../features/portal/license-columns.tsx'
import { usePortalLicenses, useRefresh } from '../../features/portal/queries.ts'
import { useReseller } from '../../features/portal/session.ts'
import { PortalLicenseStats } from '../../features/portal/stat-cards.tsx'
import { tableState, useLastPage, usePage } from '../../lib/list/list-page.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useDialogParam } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { Callout, EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'

const GenerateDialog = lazyNamed(() => import('../../features/portal/generate-dialog.tsx'), 'GenerateDialog')
const DeleteAllDialog = lazyNamed(
  () => import('../../features/portal/delete-all-dialog.tsx'),
  'DeleteAllDialog',
)

const pageSize = 25
const dialogs = ['generate', 'delete-all'] as const

export function ResellerLicensesPage() {
  const reseller = useReseller().data
  const { page, turnTo } = usePage()
  const licenses = usePortalLicenses({ page, limit: pageSize })
  const refresh = useRefresh({ done: 'Data refreshed successfully', failed: 'Failed to fetch licenses' })
  const dialog = useDialogParam(dialogs)

  const { data } = licenses
  const stats = data?.stats
  const remaining = stats?.remaining ?? reseller?.remaining_licenses ?? 0
  useLastPage(licenses.isPlaceholderData ? undefined : data?.pagination?.pages)

  function deleteAll() {
    if (stats?.total === 0) toast.info('No licenses to delete')
    else dialog.open('delete-all')
  }

  const generateButton = (
    <Button variant="primary" onClick={() => dialog.open('generate')} disabled={!stats || remaining <= 0}>
      <Plus />
      Generate License
    </Button>
  )
  return (
    <div className="grid gap-6">
      <PageHeader
        title="Licenses"
        subtitle={reseller && `The license keys you generated for ${reseller.app_id.name}.`}
        actions={
          <>
            <Button onClick={() => refresh.mutate()} loading={refresh.isPending}>
              {!refresh.isPending && <RefreshCw />}
              Refresh
            </Button>
            <Button variant="dangerGhost" onClick={deleteAll} disabled={!stats}>
              <Trash2 />
              Delete All
            </Button>
            {generateButton}
          </>
        }
      />
      {stats && remaining <= 0 && (
        <Callout tone="warning" title="Your license quota is used up">
          Delete licenses to free quota, or ask your administrator for a higher limit.
        </Callout>
      )}
      <PortalLicenseStats stats={stats} loading={licenses.isPending} />
      <Card>
        <CardHeader title="Your Licenses" />
        <Table
          caption="Licenses, newest first"
          columns={portalLicenseColumns}
          rows={data?.licenses}
          rowKey={(license) => license._id}
          {...tableState(licenses, 'Failed to fetch licenses')}
          skeletonRows={8}
          empty={
            <EmptyState
              icon={<KeyRound />}
              title="No licenses yet"
              description={
                remaining > 0
                  ? 'Generate a key and hand it to a customer. This list shows when it is used.'
                  : 'Your administrator has not given you a license quota yet.'
              }
              actions={remaining > 0 && generateButton}
            />
          }
        />
        {data?.pagination && (
          <Pagination
            page={page}
            limit={pageSize}
            total={data.pagination.total}
            onPage={turnTo}
            noun="licenses"
          />
        )}
      </Card>
      <Suspense fallback={null}>
        {dialog.kind === 'generate' && stats && reseller && (
          <GenerateDialog remaining={remaining} appName={reseller.app_id.name} onClose={dialog.close} />
        )}
        {dialog.kind === 'delete-all' && stats && stats.total > 0 && (
          <DeleteAllDialog total={stats.total} used={stats.used} onClose={dialog.close} />
        )}
      </Suspense>
    </div>
  )
}
