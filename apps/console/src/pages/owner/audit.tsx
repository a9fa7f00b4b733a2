import type { AuditRecord } from '@keyward/contract'
import { Download, ScrollText } from 'lucide-react'
import { AuditFilters, everyone, people, programs } from '../../features/audit/audit-filters.tsx'
import { nameOf } from '../../features/audit/detail.ts'
import { isOnlyOne, kindOfActor, toAction } from '../../features/audit/labels.ts'
import { useAudit } from '../../features/audit/queries.ts'
import { recordColumns } from '../../features/audit/record-columns.tsx'
import { useOwner } from '../../lib/api/account.ts'
import { useApp, useApps } from '../../lib/api/apps.ts'
import { wire } from '../../lib/api/wire.ts'
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

const RecordDialog = lazyNamed(() => import('../../features/audit/record-dialog.tsx'), 'RecordDialog')

const dialogs = ['record'] as const
const names = ['actor', 'action', 'subject', 'app', 'from', 'to', 'search'] as const
const none = Object.fromEntries(names.map((name) => [name, undefined]))

export function AuditPage() {
  const apps = useApps()
  const [url, setUrl] = useUrlState(...names, 'page', 'dialog', 'id')
  const { app, resolving, unresolved } = useApp(toId(url.app))
  const { page, turnTo } = usePage()
  const size = usePageSize(useOwner().data?._id, 50)
  const dialog = useDialogParam(dialogs)
  const subject = toId(url.subject)
  const by = toId(url.actor) ?? (subject ? everyone : people)
  const actor = by === everyone ? undefined : by
  const shown = {
    app: app?._id,
    action: toAction(url.action),
    from: toDay(url.from),
    to: toDay(url.to),
    search: toSearch(url.search),
  }
  // Days are those of the reader, as the times in the list are.
  const filters = {
    ...{ ...shown, actor, subject },
    from: shown.from && startOfLocalDay(shown.from),
    to: shown.to && endOfLocalDay(shown.to),
  }
  const audit = useAudit({ ...filters, page, limit: size.limit }, !resolving)
  const data = resolving ? undefined : audit.data
  const state = tableState(audit, 'Failed to load the audit log', unresolved ?? apps)
  useLastPage(audit.isPlaceholderData ? undefined : data?.pagination.pages)
  const filtered = Object.values({ ...filters, actor: by !== people }).some(Boolean)
  const one = actor && !kinds.includes(actor) ? actor : undefined
  const record = data?.records.find(({ _id }) => _id === dialog.id)
  const setFilters = (changes: Record<string, string | undefined>) =>
    setUrl({ ...changes, page: undefined, dialog: undefined, id: undefined })
  const clear = () => setFilters(none)

  const exportList = async () =>
    (await import('./export-list.ts')).exportList({
      endpoint: wire.audit.export,
      filters,
      format: 'csv',
      noun: 'records',
      pagination: data?.pagination,
    })

  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="Audit"
        subtitle="Who changed what, when and from where."
        actions={
          <Button onClick={() => void exportList()} disabled={!data || data.records.length === 0}>
            <Download />
            Export CSV
          </Button>
        }
      />
      <Card aria-busy={audit.isPlaceholderData && !state.error} className="aria-busy:[&_tbody]:animate-dim">
        <CardHeader
          title={titleOf(data?.records ?? [], { actor: one, subject })}
          description={data ? `${totalOf(data.pagination, 'record')}, times in ${timeZone}` : '\u00a0'}
          stacked
          filters
          actions={
            <>
              {(one || subject) && (
                <Button onClick={() => setFilters({ actor: everyone, subject: undefined })}>
                  All Records
                </Button>
              )}
              <AuditFilters
                apps={apps.data ?? []}
                app={app}
                values={{ ...shown, actor: by }}
                onChange={setFilters}
              />
            </>
          }
        />
        <Table
          caption="Records, newest first"
          columns={recordColumns}
          rows={data?.records}
          rowKey={({ _id }) => _id}
          rowMenu={({ _id }) => (
            <Button size="sm" variant="ghost" onClick={() => dialog.open('record', _id)}>
              Details
            </Button>
          )}
          {...state}
          skeletonRows={10}
          empty={
            <EmptyState
              icon={<ScrollText />}
              title={filtered ? 'No records found' : 'No records yet'}
              description={
                filtered
                  ? 'Nothing matches your filters.'
                  : 'Changes of your team and your programs appear here.'
              }
              actions={filtered && <Button onClick={clear}>Clear Filters</Button>}
            />
          }
        />
        {data && <Pagination {...data.pagination} {...size} page={page} onPage={turnTo} noun="records" />}
      </Card>
      <DialogSlot>
        {dialog.kind === 'record' && record && (
          <RecordDialog key={record._id} record={record} onFilter={setFilters} onClose={dialog.close} />
        )}
      </DialogSlot>
    </div>
  )
}

const kinds: string[] = [people, programs]

type Listed = {
  actor: AuditRecord['actor']
  subject: { _id: string; name: string | null } | null
}

function titleOf(
  records: readonly Listed[],
  { actor, subject }: Record<'actor' | 'subject', string | undefined>,
) {
  const by = records.find((record) => record.actor._id === actor)?.actor
  const about = records.find((record) => record.subject?._id === subject)?.subject
  if (actor) return <>By {by ? <bdi>{isOnlyOne(by) ? kindOfActor(by) : nameOf(by)}</bdi> : 'one actor'}</>
  if (subject) return <>About {about ? <bdi>{nameOf(about)}</bdi> : 'one object'}</>
  return 'Records'
}

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
