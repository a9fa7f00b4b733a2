import { History, UserX } from 'lucide-react'
import { ActivityFilters } from '../../features/activity/activity-filters.tsx'
import { eventColumns } from '../../features/activity/event-columns.tsx'
import { toEventFilter, userOf } from '../../features/activity/labels.ts'
import { useActivity } from '../../features/activity/queries.ts'
import { useOwner } from '../../lib/api/account.ts'
import { useApp, useApps } from '../../lib/api/apps.ts'
import { ApiError } from '../../lib/api/call.ts'
import { endOfLocalDay, startOfLocalDay } from '../../lib/format/dates.ts'
import { totalOf } from '../../lib/format/words.ts'
import { tableState, useLastPage, usePage } from '../../lib/list/list-page.ts'
import { usePageSize } from '../../lib/list/page-size.ts'
import { toDay, toId, toSearch } from '../../lib/list/url-values.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useDialogParam, useUrlState } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'

const ExplainDialog = lazyNamed(() => import('../../features/activity/explain-dialog.tsx'), 'ExplainDialog')

const dialogs = ['explain'] as const
const names = ['app', 'client', 'code', 'from', 'to', 'search'] as const
const none = Object.fromEntries(names.map((name) => [name, undefined]))

export function ActivityPage() {
  const apps = useApps()
  const [url, setUrl] = useUrlState(...names, 'page')
  const { app, resolving, unresolved } = useApp(toId(url.app))
  const { page, turnTo } = usePage()
  const size = usePageSize(useOwner().data?._id, 50)
  const dialog = useDialogParam(dialogs)
  const client = toId(url.client)
  const { kind, code } = toEventFilter(url.code)
  const shown = {
    ...{ app: app?._id, code: kind ?? code, search: toSearch(url.search) },
    ...{ from: toDay(url.from), to: toDay(url.to) },
  }
  // Days are those of the reader, as the times in the list are.
  const filters = {
    ...{ ...shown, code, kind },
    from: shown.from && startOfLocalDay(shown.from),
    to: shown.to && endOfLocalDay(shown.to),
  }
  const activity = useActivity({ ...filters, client, page, limit: size.limit }, !resolving)
  const missing = client !== undefined && activity.error instanceof ApiError && activity.error.status === 404
  const data = resolving || missing ? undefined : activity.data
  const state = tableState(activity, 'Failed to load activity', unresolved ?? apps)
  useLastPage(activity.isPlaceholderData ? undefined : data?.pagination.pages)
  const filtered = Object.values({ ...filters, client }).some(Boolean)
  const user = data?.events.find((event) => event.client?._id === client)

  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="Activity"
        subtitle="What your programs do, and why they are refused. New events appear by themselves."
      />
      <Card
        aria-busy={activity.isPlaceholderData && !state.error}
        className="aria-busy:[&_tbody]:animate-dim"
      >
        <CardHeader
          title={client ? `Events of ${(user && userOf(user)) ?? 'one end user'}` : 'Events'}
          description={data ? `${totalOf(data.pagination, 'event')}, times in ${timeZone}` : '\u00a0'}
          stacked
          filters
          actions={
            <>
              {client && (
                <Button onClick={() => setUrl({ client: undefined, page: undefined })}>All Users</Button>
              )}
              <ActivityFilters
                apps={apps.data ?? []}
                app={app}
                values={shown}
                onChange={(changes) => setUrl({ ...changes, page: undefined })}
              />
            </>
          }
        />
        <Table
          caption="Events, newest first"
          columns={eventColumns}
          rows={missing ? [] : data?.events}
          rowKey={(event) => event.reference}
          rowMenu={(event) =>
            event.code ? (
              <Button size="sm" variant="ghost" onClick={() => dialog.open('explain', event.reference)}>
                Why?
              </Button>
            ) : null
          }
          {...(!missing && state)}
          skeletonRows={10}
          empty={
            missing ? (
              <EmptyState
                icon={<UserX />}
                title="This end user does not exist"
                description={`It was deleted${app ? `, or is not a user of ${app.name}` : ''}.`}
                actions={
                  <Button onClick={() => setUrl({ client: undefined, page: undefined })}>
                    Show Events of All Users
                  </Button>
                }
              />
            ) : filtered ? (
              <EmptyState
                icon={<History />}
                title="No events found"
                description="Nothing matches your filters."
                actions={<Button onClick={() => setUrl({ ...none, page: undefined })}>Clear Filters</Button>}
              />
            ) : (
              <EmptyState
                icon={<History />}
                title="No events yet"
                description="Starts, sign-ins and refusals of your programs appear here within a second."
              />
            )
          }
        />
        {data && <Pagination {...data.pagination} {...size} page={page} onPage={turnTo} noun="events" />}
      </Card>
      <DialogSlot>
        {dialog.kind === 'explain' && dialog.id && (
          <ExplainDialog key={dialog.id} reference={dialog.id} onClose={dialog.close} />
        )}
      </DialogSlot>
    </div>
  )
}

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
