import { formatAmount, type OrderMailState, type OrderMailWait, type ShopOrder } from '@keyward/contract'
import { formatTime } from '../../lib/format/dates.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { orderStateFacts } from '../../lib/format/order-state.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, Lines, NoValue } from '../../ui/table-rows.tsx'

/** The mail with the keys of an order: in its row, and in full. */
export const mailWords: Readonly<Record<OrderMailState, { note: string | null; text: string }>> = {
  queued: { note: 'Mail queued', text: 'Queued' },
  sent: { note: 'Mailed', text: 'Sent' },
  failed: { note: 'Mail failed', text: 'Failed' },
  none: { note: null, text: 'None' },
  waiting: { note: 'Mail waits', text: 'Waits' },
}

/** What a mail that waits needs. */
export const mailWaits: Readonly<Record<OrderMailWait, string>> = {
  confirmation: 'It is sent at once after you confirm your email address in the settings.',
  day: 'The mails of today are used up. It is sent on the next day; paid orders come first.',
  free_orders: 'This shop sent many orders that cost nothing. It is sent within the next hours.',
}

const Reason = ({ text, className }: { text: string; className?: string }) => (
  <span className={cx('wrap-anywhere line-clamp-2 md:min-w-44 md:max-w-64', className)} title={text}>
    {text}
  </span>
)

/** How many of its licenses were deleted since. */
export function deletedOf({ licenses, renewed, deletedLicenses: n }: ShopOrder): string | undefined {
  const all = licenses.length + (renewed ? 1 : 0) + n
  if (n === 0) return
  if (all === 1) return 'Its license was deleted'
  return n === all
    ? 'All its licenses were deleted'
    : `${formatNumber(n)} of ${formatNumber(all)} licenses deleted`
}

/** Why it is in its state, or why it has no license. */
export function reasonOf(order: ShopOrder): string {
  const { reason, state, licenses, renewed, lines } = order
  const isWithout = state === 'fulfilled' && licenses.length === 0 && !renewed
  const without = isWithout ? `No license for ${lines.map(({ product }) => product).join(', ')}` : ''
  return reason ?? deletedOf(order) ?? without
}

export const orderColumns = (onOpen: (order: ShopOrder) => void): Column<ShopOrder>[] => [
  {
    id: 'order',
    header: 'Order',
    phone: 'title',
    cell: (order) => (
      <Lines
        note={
          order.email && (
            <CellText title={order.email}>
              <bdi>{order.email}</bdi>
            </CellText>
          )
        }
      >
        <span className="flex min-w-0 items-center gap-2 md:min-w-36 md:max-w-64">
          <button
            type="button"
            data-row-open=""
            title={order.order}
            className="min-w-0 truncate rounded-sm text-left font-medium underline-offset-4 hover:underline"
            onClick={() => onOpen(order)}
          >
            {order.order}
          </button>
          {order.test && <Badge>Test</Badge>}
        </span>
      </Lines>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: (order) => (
      <Lines note={reasonOf(order) && <Reason text={reasonOf(order)} className="max-md:hidden" />}>
        <StateBadge {...orderStateFacts[order.state]} />
      </Lines>
    ),
  },
  {
    // Phones have no place for it under the state.
    id: 'reason',
    header: 'Reason',
    phone: 'whole',
    className: 'md:hidden',
    isEmpty: (order) => reasonOf(order) === '',
    cell: (order) => reasonOf(order) && <Reason text={reasonOf(order)} />,
  },
  {
    id: 'licenses',
    header: 'Licenses',
    align: 'end',
    phone: 'third',
    cell: ({ licenses: { length }, renewed, mail }) => (
      <Lines note={<span className="whitespace-nowrap max-md:hidden">{mailWords[mail].note}</span>}>
        <span className="whitespace-nowrap">
          {formatNumber(length + (renewed ? 1 : 0))}
          <span className="md:hidden">&nbsp;{length + (renewed ? 1 : 0) === 1 ? 'license' : 'licenses'}</span>
        </span>
      </Lines>
    ),
  },
  {
    id: 'amount',
    header: 'Amount',
    align: 'end',
    phone: 'third',
    isEmpty: ({ amount }) => amount === null,
    cell: ({ amount, currency }) =>
      amount === null ? (
        <NoValue />
      ) : (
        <span className="whitespace-nowrap">{formatAmount(amount, currency)}</span>
      ),
  },
  {
    id: 'shop',
    header: 'Shop',
    phone: 'hidden',
    cell: ({ shop, app }) => (
      <Lines note={<CellText title={app.name}>{app.name}</CellText>}>
        <CellText title={shop.name}>
          <bdi>{shop.name}</bdi>
        </CellText>
      </Lines>
    ),
  },
  {
    id: 'time',
    header: 'Time',
    phone: 'third',
    cell: ({ createdAt }) => (
      <Lines note={<span className="whitespace-nowrap max-md:hidden">{formatTime(createdAt)}</span>}>
        <DateText value={createdAt} />
      </Lines>
    ),
  },
]
