import type { ActivityEvent, AuditRecord } from '@keyward/contract'
import { Link } from 'react-router'
import { labelOf as eventLabel, toneOf, userOf } from '../../features/activity/labels.ts'
import { type ActivityQuery, useActivityPages } from '../../features/activity/queries.ts'
import { nameOf, namesIn, toRows } from '../../features/audit/detail.ts'
import { kindOfActor, labelOf as recordLabel } from '../../features/audit/labels.ts'
import { type AuditPagesQuery, useAuditPages } from '../../features/audit/queries.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useDialogParam } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { Timeline, type TimelineEvent } from '../../ui/timeline.tsx'
import { inOrder, mergeNewest, withoutRecorded, withoutRepeated } from './merged-times.ts'

const ExplainDialog = lazyNamed(() => import('../../features/activity/explain-dialog.tsx'), 'ExplainDialog')

const pageSize = 20
const dialogs = ['explain'] as const

export interface ItemTimelineProps {
  /** What the audit log is asked for. */
  changes: AuditPagesQuery
  /** What the activity log is asked for; undefined if no program's events concern this object. */
  programs?: ActivityQuery
  /** What is known of the object itself, such as its end. */
  known?: TimelineEvent[]
  /** The records of everything that belongs to the object. */
  all?: string
}

/** Who changed an object and what programs did with it, in one order, as far as the reader may read it. */
export function ItemTimeline({ changes, programs, known = [], all }: ItemTimelineProps) {
  const may = useMay()
  const dialog = useDialogParam(dialogs)
  const readsChanges = may(wire.audit.list)
  const readsPrograms = programs !== undefined && may(wire.activity.list)
  const records = useAuditPages({ ...changes, limit: pageSize }, readsChanges)
  const events = useActivityPages({ ...programs, limit: pageSize }, readsPrograms)
  const failed = [records, events].find(({ isError, data }) => isError && !data)
  const isPending = (readsChanges && records.isPending) || (readsPrograms && events.isPending)
  const programEvents = events.data?.pages.flatMap((page) => page.events) ?? []
  const changeRecords = records.data?.pages.flatMap((page) => page.records) ?? []
  // A timeline takes its events in their order, and the logs begin with the newest. What a program did comes before the
  // changes that the server made for it at the same moment.
  const { shown, earlier } = mergeNewest([
    { rows: withoutRecorded(known, changeRecords, programEvents), more: undefined, lastAt: undefined },
    {
      rows: inOrder(programEvents).map((event) =>
        toProgramEvent(event, programs?.client, () => dialog.open('explain', event.reference)),
      ),
      more: events.hasNextPage ? events.fetchNextPage : undefined,
      lastAt: programEvents.at(-1)?.at,
    },
    {
      rows: withoutRepeated(changeRecords, programEvents)
        .map((record) => toChange(record, changes.about))
        .reverse(),
      more: records.hasNextPage ? records.fetchNextPage : undefined,
      lastAt: changeRecords.at(-1)?.at,
    },
  ])
  return (
    <Card>
      <CardHeader
        title="History"
        actions={
          all &&
          readsChanges && (
            <Button asChild size="sm">
              <Link to={all}>All Records</Link>
            </Button>
          )
        }
      />
      <CardBody className="grid gap-4">
        {failed && <QueryError query={failed} title="Failed to load the history" />}
        {isPending && !failed ? <Skeleton className="h-40" /> : <Timeline events={shown} />}
        {earlier && (
          <Button
            size="sm"
            className="w-fit"
            loading={records.isFetchingNextPage || events.isFetchingNextPage}
            onClick={earlier}
          >
            Show Earlier
          </Button>
        )}
        {!readsChanges && (
          <p className="text-[0.8125rem] text-fg-muted">
            Your role does not include the audit log, so changes by your team are not shown here.
          </p>
        )}
        {programs !== undefined && !readsPrograms && (
          <p className="text-[0.8125rem] text-fg-muted">
            Your role does not include end users, so what programs did is not shown here.
          </p>
        )}
      </CardBody>
      <DialogSlot>
        {dialog.kind === 'explain' && dialog.id && (
          <ExplainDialog key={dialog.id} reference={dialog.id} onClose={dialog.close} />
        )}
      </DialogSlot>
    </Card>
  )
}

/** The list of all records has what is named by its id alone. */
const isId = (value: string) => /^[a-z]{3}_[0-9a-f]{32}$/.test(value)

/** Names the subject of the record unless that is `shown`, or an app, which the page names. */
function toChange(record: AuditRecord, shown: string | undefined): TimelineEvent {
  const { actor, at, detail, subject } = record
  const name =
    subject && subject._id !== shown && subject.kind !== 'app' ? subject.name && nameOf(subject) : null
  const changed = toRows(detail ?? {}, namesIn(record)).filter(
    ({ field, before, after }) =>
      field !== 'Objects' &&
      field !== 'Reseller' &&
      (before !== undefined || !isId(after)) &&
      (field !== 'App' || subject?.kind === 'reseller') &&
      (before !== undefined || (after !== name && after !== 'none')),
  )
  return {
    at,
    text:
      name === null ? (
        recordLabel(record)
      ) : (
        <>
          {recordLabel(record)}: <bdi>{name}</bdi>
        </>
      ),
    by: actor.kind === 'program' ? 'Program' : <ActorName actor={actor} />,
    lines: changed.map(({ field, before, after }) =>
      before === undefined ? (
        `${field}: ${after}`
      ) : isId(before) || isId(after) ? (
        `${field}: changed`
      ) : (
        <>
          {field}: <span className="text-fg-muted line-through">{before}</span> → {after}
        </>
      ),
    ),
  }
}

const ActorName = ({ actor }: { actor: AuditRecord['actor'] }) =>
  actor.name === null ? (
    kindOfActor(actor)
  ) : (
    <>
      <bdi>{nameOf(actor)}</bdi>, {kindOfActor(actor)}
    </>
  )

/** Names the end user unless that is `shown`. */
function toProgramEvent(
  event: ActivityEvent,
  shown: string | undefined,
  onExplain: () => void,
): TimelineEvent {
  const { at, times, code, address, client } = event
  const user = !client ? userOf(event) : client._id === shown ? undefined : (client.name ?? 'Unnamed')
  return {
    at,
    text: `${code ? 'Refused: ' : ''}${eventLabel(event)}${times > 1 ? ` × ${formatNumber(times)}` : ''}`,
    tone: toneOf(event),
    by: (
      <>
        Program
        {user && (
          <>
            , <bdi>{user}</bdi>
          </>
        )}
        {address && `, ${address}`}
      </>
    ),
    action: code && (
      <Button size="sm" variant="ghost" onClick={onExplain}>
        Why?
      </Button>
    ),
  }
}
