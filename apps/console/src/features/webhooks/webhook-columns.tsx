import type { Webhook } from '@keyward/contract'
import { appsText } from '../../lib/format/apps.ts'
import { formatDate } from '../../lib/format/dates.ts'
import { webhookPath } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, Lines, RowLink } from '../../ui/table-rows.tsx'
import { describeEvents } from './event-words.ts'
import { hostOf, stateFacts, stateOf } from './state.ts'

export const formatLabels = { standard: 'Standard', discord: 'Discord' }

/** What follows the address of its server. */
const restOf = (webhook: Webhook) => webhook.url.split(hostOf(webhook))[1]?.replace(/^\/$/, '')

export const webhookColumns = (apps: Parameters<typeof appsText>[1]): Column<Webhook>[] => [
  {
    id: 'address',
    header: 'Address',
    phone: 'title',
    cell: (webhook) => (
      <Lines
        note={
          restOf(webhook) && (
            <CellText width="name" className="font-mono" title={webhook.url}>
              {restOf(webhook)}
            </CellText>
          )
        }
      >
        <RowLink to={webhookPath(webhook._id)} title={webhook.url}>
          {hostOf(webhook)}
        </RowLink>
      </Lines>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: (webhook) => {
      const state = stateOf(webhook)
      const note = noteOf(webhook)
      return (
        <Lines note={note && <span className="whitespace-nowrap max-md:hidden">{note}</span>}>
          <div>
            <StateBadge {...stateFacts[state]} />
          </div>
        </Lines>
      )
    },
  },
  {
    id: 'events',
    header: 'Events',
    cell: ({ events }) => <Short text={describeEvents(events)} />,
  },
  {
    id: 'apps',
    header: 'Apps',
    cell: (webhook) => <Short text={appsText(webhook.apps, apps)} />,
  },
  {
    id: 'format',
    header: 'Format',
    phone: 'whole',
    cell: ({ format }) => formatLabels[format],
  },
  {
    id: 'created',
    header: 'Created',
    phone: 'hidden',
    cell: ({ createdAt }) => <DateText value={createdAt} />,
  },
]

function noteOf({ active, failingSince, pauseReason }: Webhook) {
  if (active) return failingSince && `since ${formatDate(failingSince)}`
  return pauseReason === 'full' ? 'Too many events waited' : 'Resume it to get events'
}

function Short({ text }: { text: string }) {
  return <CellText title={text}>{text}</CellText>
}
