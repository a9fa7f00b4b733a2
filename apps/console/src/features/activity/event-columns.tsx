import type { ActivityEvent } from '@keyward/contract'
import { formatNumber } from '../../lib/format/numbers.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { cx } from '../../ui/cx.ts'
import { TimeText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, Lines } from '../../ui/table-rows.tsx'
import { labelOf, toneOf, userOf } from './labels.ts'

export const eventColumns: Column<ActivityEvent>[] = [
  {
    id: 'event',
    header: 'Event',
    phone: 'title',
    cell: (event) => (
      <span className="flex flex-wrap items-center gap-1.5">
        <StateBadge tone={toneOf(event)} dot={event.code !== null} label={labelOf(event)} />
        {event.times > 1 && <span className="text-fg-muted text-xs">× {formatNumber(event.times)}</span>}
      </span>
    ),
  },
  {
    id: 'who',
    header: 'User',
    cell: (event) => (
      <CellText title={userOf(event)}>
        <bdi>{userOf(event) ?? '—'}</bdi>
      </CellText>
    ),
  },
  {
    id: 'app',
    header: 'App',
    cell: ({ app, call }) => (
      <Lines note={call && <span className="block max-md:hidden">{call}</span>}>
        <CellText title={app?.name}>{app?.name ?? 'Deleted'}</CellText>
      </Lines>
    ),
  },
  {
    id: 'address',
    header: 'Address',
    phone: 'third',
    cell: ({ address }) => (
      // An IPv6 address is too long for one line.
      <code
        className={cx('font-mono text-xs', address?.includes(':') ? 'wrap-anywhere' : 'whitespace-nowrap')}
      >
        {address ?? '—'}
      </code>
    ),
  },
  {
    id: 'at',
    header: 'Time',
    phone: 'third',
    cell: ({ at }) => <TimeText value={at} />,
  },
  {
    id: 'reference',
    header: 'Reference',
    phone: 'hidden',
    cell: ({ reference, code }) =>
      code ? (
        <span className="inline-flex items-center gap-1">
          <code className="font-mono text-xs">{reference}</code>
          <CopyButton text={reference} label={`Copy reference ${reference}`} />
        </span>
      ) : (
        <span className="text-fg-muted">—</span>
      ),
  },
]
