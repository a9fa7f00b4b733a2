import type { Delivery } from '@keyward/contract'
import { StateBadge } from '../../ui/badge.tsx'
import { TimeText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { Lines } from '../../ui/table-rows.tsx'
import { attemptsText, deliveryFacts, responseText } from './delivery-words.ts'
import { eventLabel } from './event-words.ts'

export const deliveryColumns = (onOpen: (delivery: Delivery) => void): Column<Delivery>[] => [
  {
    id: 'event',
    header: 'Event',
    phone: 'title',
    cell: (delivery) => (
      <button
        type="button"
        data-row-open=""
        title={delivery.event}
        className="max-w-full truncate rounded-sm text-left font-medium underline-offset-4 hover:underline"
        onClick={() => onOpen(delivery)}
      >
        {eventLabel(delivery.event)}
      </button>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => <StateBadge {...deliveryFacts[state]} />,
  },
  {
    id: 'response',
    header: 'Response',
    cell: (delivery) => (
      <Lines note={attemptsText(delivery)}>
        <span className="whitespace-nowrap">{responseText(delivery)}</span>
      </Lines>
    ),
  },
  {
    id: 'at',
    header: 'Time',
    phone: 'third',
    cell: ({ at }) => <TimeText value={at} />,
  },
]
