import { type App, limits, type User, unlimited } from '@keyward/contract'
import { Box, Plus } from 'lucide-react'
import { Link } from 'react-router'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { useLastPage, usePage } from '../../lib/list/list-page.ts'
import { toSearch } from '../../lib/list/url-values.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { appPath } from '../../lib/navigation/paths.ts'
import { useUrlState } from '../../lib/navigation/url-state.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useAppDialog } from './app-dialogs.tsx'
import { AppMenu } from './app-menu.tsx'
import { useAppCount, useAppPage } from './queries.ts'

const appSearch = () => import('./app-search.tsx')
const AppSearch = lazyNamed(appSearch, 'AppSearch')
const Pagination = lazyNamed(appSearch, 'Pagination')

const columns: Column<App>[] = [
  {
    id: 'name',
    header: 'Application',
    phone: 'title',
    cell: (app) => (
      <div className="flex min-w-0 flex-wrap items-center gap-2">
        <Link
          to={appPath(app._id)}
          data-row-open=""
          className="wrap-anywhere rounded-sm font-medium underline-offset-4 hover:underline"
        >
          {app.name}
        </Link>
        <Badge>v{app.version}</Badge>
        {app.paused && <StateBadge tone="warning" label="Paused" />}
      </div>
    ),
  },
  {
    id: 'appId',
    header: 'App ID',
    cell: (app) => (
      <span className="inline-flex items-center gap-1">
        <code className="font-mono text-[0.8125rem]">{app.appId}</code>
        <CopyButton text={app.appId} label={`Copy app ID of ${app.name}`} />
      </span>
    ),
  },
  {
    id: 'createdAt',
    header: 'Created',
    cell: (app) => <DateText value={app.createdAt} className="text-fg-muted" />,
  },
]

/** Without a primary button when `quiet`: the page shows another next step. */
export function AppList({ owner, quiet }: { owner: User; quiet: boolean }) {
  const { page, turnTo } = usePage()
  const [url, setUrl] = useUrlState('search', 'page')
  const search = toSearch(url.search)
  const apps = useAppPage({ page, search })
  useLastPage(apps.isPlaceholderData ? undefined : apps.data?.pagination.pages)
  const all = useAppCount()
  const dialog = useAppDialog()
  const knowsPlan = useMay()(wire.plans.subscription)
  const count = all ?? owner.appCount
  const full = owner.maxApps !== unlimited && count >= owner.maxApps
  return (
    <Card aria-labelledby="applications" className="overflow-hidden">
      <CardHeader
        title={<span id="applications">Applications</span>}
        description={
          knowsPlan
            ? owner.maxApps === unlimited
              ? `${count} of unlimited apps`
              : `${count} of ${owner.maxApps} apps`
            : amountOf(count, 'app')
        }
        actions={
          <>
            {(count > limits.pageSizeMax || search) && (
              <Deferred>
                <AppSearch value={search} onSearch={(text) => setUrl({ search: text, page: undefined })} />
              </Deferred>
            )}
            {dialog.may('new-app') && (
              <Button
                variant={quiet ? 'secondary' : 'primary'}
                disabled={full}
                title={full ? 'You have reached the app limit of your plan' : undefined}
                onClick={() => dialog.open('new-app')}
              >
                <Plus />
                Add App
              </Button>
            )}
          </>
        }
      />
      <Table
        caption="Applications"
        columns={columns}
        rows={apps.data?.apps}
        rowKey={(app) => app._id}
        rowMenu={(app) => <AppMenu app={app} />}
        loading={apps.isPending}
        skeletonRows={Math.max(1, Math.min(owner.appCount, limits.pageSizeMax))}
        error={
          apps.isError && !apps.data
            ? {
                title: 'Failed to fetch apps',
                description: apps.error.message,
                onRetry: () => void apps.refetch(),
                retrying: apps.isFetching,
              }
            : undefined
        }
        empty={
          search ? (
            <EmptyState
              className="border-t"
              icon={<Box />}
              title="No applications found"
              description="No app name or app ID matches this search."
              actions={
                <Button onClick={() => setUrl({ search: undefined, page: undefined })}>Clear Search</Button>
              }
            />
          ) : (
            <EmptyState
              className="border-t py-8"
              title="No applications yet"
              description="An application represents one program that you sell, with its licenses and end users."
              actions={
                dialog.may('new-app') && (
                  <Button onClick={() => dialog.open('new-app')}>
                    <Plus />
                    Create Your First App
                  </Button>
                )
              }
            />
          )
        }
      />
      {apps.data && apps.data.pagination.total > limits.pageSizeMax && (
        <Deferred>
          <Pagination {...apps.data.pagination} page={page} onPage={turnTo} noun="apps" />
        </Deferred>
      )}
    </Card>
  )
}
