import { ExternalLink, Plus, Sparkles, Store } from 'lucide-react'
import { useMemo } from 'react'
import { useApps } from '../../features/apps/queries.ts'
import { statusFacts } from '../../features/resellers/filter.ts'
import { useResellers, useSetActive } from '../../features/resellers/queries.ts'
import { resellerColumns } from '../../features/resellers/reseller-columns.tsx'
import { ResellerDialogs, useResellerDialog } from '../../features/resellers/reseller-dialogs.tsx'
import { ResellerExplainer } from '../../features/resellers/reseller-explainer.tsx'
import { ResellerStats } from '../../features/resellers/reseller-stats.tsx'
import { summarize } from '../../features/resellers/summary.ts'
import { useOwner } from '../../lib/api/account.ts'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { tableState, useLastPage, usePage } from '../../lib/list/list-page.ts'
import { useFilters } from '../../lib/list/use-filters.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { FiltersSkeleton } from '../../ui/filters-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Callout, EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { useTableView } from '../../ui/table-view.ts'

const NoApps = lazyNamed(() => import('./no-apps.tsx'), 'NoApps')
const ResellerFilters = lazyNamed(
  () => import('../../features/resellers/reseller-filters.tsx'),
  'ResellerFilters',
)
const Pagination = lazyNamed(() => import('../../ui/pagination.tsx'), 'Pagination')

const pageSize = 25
const subtitle = 'Manage your reseller network and its license limits.'

export function ResellersPage() {
  const owner = useOwner().data
  const apps = useApps()
  const hasApps = (apps.data?.length ?? 0) > 0
  const setActive = useSetActive()
  const dialog = useResellerDialog()
  const [view, setView] = useTableView('resellers', owner?._id)
  const { app, resolving, unresolved, filters, filtered, setFilters, clearFilters } = useFilters(statusFacts)
  const { page, turnTo } = usePage()
  const resellers = useResellers({ ...filters, page, limit: pageSize }, hasApps && !resolving)
  const data = resolving ? undefined : resellers.data
  useLastPage(resellers.isPlaceholderData ? undefined : data?.pagination.pages)

  const { open } = dialog
  const may = useMay()
  const mayChange = may(wire.resellers.update) || may(wire.resellers.remove)
  const { mutate: changeActive } = setActive
  const columns = useMemo(
    () =>
      resellerColumns((action, { _id }) => {
        if (action === 'resume') changeActive({ id: _id, active: true })
        else open(action, _id)
      }).filter(({ id }) => mayChange || id !== 'actions'),
    [open, changeActive, mayChange],
  )

  const fixed = app ? ['app'] : []

  const free = owner?.plan === 'free'
  const dialogs = owner && apps.isSuccess && (
    <ResellerDialogs available={!free} apps={apps.data} appId={app?._id} resellers={data?.resellers ?? []} />
  )
  if (apps.isSuccess && !hasApps) {
    return (
      <div className="grid gap-3 md:gap-6">
        <PageHeader title="Resellers" subtitle={subtitle} actions={<PortalLink />} />
        <NoApps icon={<Store />} reason="A reseller belongs to an app." action="Create App First" />
        {dialogs}
      </div>
    )
  }

  const { loading, error } = tableState(resellers, 'Failed to load resellers', unresolved ?? apps)
  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="Resellers"
        subtitle={subtitle}
        actions={<PortalLink />}
        primary={
          dialog.may('create') && (
            <Button variant="primary" onClick={() => open('create')} disabled={!hasApps}>
              <Plus />
              Add Reseller
            </Button>
          )
        }
      />
      {free && may(wire.plans.subscription) && (
        <Callout
          tone="warning"
          className={data ? 'max-md:order-last' : 'max-md:hidden'}
          icon={<Sparkles aria-hidden />}
          title="Resellers require the premium plan"
          action={<UpgradeLink />}
        >
          On the free plan you cannot create resellers, and existing resellers cannot generate licenses.
        </Callout>
      )}
      <ResellerStats summary={data && summarize(data.stats)} loading={loading} />
      <Card>
        <CardHeader
          title="Directory"
          filters
          actions={
            (filtered || data?.stats.total !== 0) && (
              <Deferred fallback={<FiltersSkeleton selects={2} />}>
                <ResellerFilters
                  values={filters}
                  onChange={setFilters}
                  apps={apps.data ?? []}
                  app={app}
                  table={{ columns, view, fixed, onChange: setView }}
                />
              </Deferred>
            )
          }
        />
        <Table
          caption="Resellers, newest first"
          columns={columns}
          view={view}
          fixed={fixed}
          rows={data?.resellers}
          rowKey={(reseller) => reseller._id}
          loading={loading}
          error={error && { ...error, description: 'Please try refreshing the page' }}
          empty={
            filtered && data && data.stats.total > 0 ? (
              <EmptyState
                icon={<Store />}
                title="No resellers found"
                description="No results match your search and filters."
                actions={<Button onClick={clearFilters}>Clear filters</Button>}
              />
            ) : (
              <EmptyState
                icon={<Store />}
                title="No resellers yet"
                description={
                  free && may(wire.plans.subscription)
                    ? 'Resellers are only available for premium subscribers.'
                    : 'Create an account for a partner who sells licenses for your app, within the limit you set.'
                }
                actions={
                  free ? (
                    <May call={wire.payments.createOrder}>
                      <Button asChild variant="primary">
                        <a href={paths.subscription}>Upgrade to Create Resellers</a>
                      </Button>
                    </May>
                  ) : (
                    <May call={wire.resellers.create}>
                      <Button variant="primary" onClick={() => open('create')}>
                        <Plus />
                        Create First Reseller
                      </Button>
                    </May>
                  )
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
              noun="resellers"
            />
          </Deferred>
        )}
      </Card>
      {data && <ResellerExplainer account={owner?._id} done={data.stats.total > 0} />}
      {dialogs}
    </div>
  )
}

function PortalLink() {
  return (
    <Button asChild>
      <a href={paths.resellerAuth} target="_blank" rel="noreferrer">
        <ExternalLink aria-hidden />
        Reseller Portal
        <span className="sr-only"> (opens in a new tab)</span>
      </a>
    </Button>
  )
}

/** Loads the document, because that page has another Content-Security-Policy. */
function UpgradeLink() {
  return (
    <May call={wire.payments.createOrder}>
      <Button asChild>
        <a href={paths.subscription}>Upgrade to Premium</a>
      </Button>
    </May>
  )
}
