import { formatAmount, type SaleFigures, type SaleKind } from '@keyward/contract'
import { Link } from 'react-router'
import { formatNumber } from '../../lib/format/numbers.ts'
import { StatCard } from '../../ui/stat-card.tsx'

const none: SaleFigures = {
  ...{ orders: 0, renewals: 0, revenue: 0, newRevenue: 0, renewedRevenue: 0, unpriced: 0 },
  ...{ refunds: 0, refunded: 0, disputes: 0, disputed: 0, disputesWon: 0, recovered: 0, trials: 0 },
}

export interface SalesCardsProps {
  currency: string | null
  now: SaleFigures | undefined
  before: SaleFigures | undefined
  /** What `before` is: 'the month before'. */
  compared: string
  due: { orders: number; amount: number } | undefined
  loading: boolean
  /** The lists of orders that a kind of sale counts, now and before. */
  toOrders: (sale?: SaleKind) => string
  toEarlier: (sale?: SaleKind) => string
  toDue: string
}

/** What was sold in one currency, each number with its orders and beside what it was before. */
export function SalesCards({
  currency,
  now = none,
  before = none,
  compared,
  due,
  loading,
  toOrders,
  toEarlier,
  toDue,
}: SalesCardsProps) {
  const money = (amount: number) => formatAmount(amount, currency)
  const count = (value: number) => formatNumber(value) ?? '0'
  const against = (label: string, value: string, counted: number, sale?: SaleKind) => (
    <Opens to={toEarlier(sale)} label={label} counted={counted} text={`${value} ${compared}`} />
  )
  const cards = [
    {
      label: 'Revenue',
      value: money(now.revenue),
      note: against('Revenue', money(before.revenue), before.orders + before.renewals),
      counted: now.orders + now.renewals,
      to: toOrders(),
    },
    {
      label: 'Orders',
      value: count(now.orders),
      detail: money(now.newRevenue),
      note: against('Orders', count(before.orders), before.orders, 'new'),
      counted: now.orders,
      to: toOrders('new'),
    },
    {
      label: 'Renewals',
      value: count(now.renewals),
      detail: money(now.renewedRevenue),
      note: against('Renewals', count(before.renewals), before.renewals, 'renewed'),
      counted: now.renewals,
      to: toOrders('renewed'),
    },
    {
      label: 'Refunds',
      value: count(now.refunds),
      detail: money(now.refunded),
      note: against(
        'Refunds',
        `${count(before.refunds)}, ${money(before.refunded)}`,
        before.refunds,
        'refunded',
      ),
      counted: now.refunds,
      to: toOrders('refunded'),
    },
    {
      label: 'Disputes',
      value: count(now.disputes),
      detail: money(now.disputed),
      note: (
        <Opens
          to={toOrders('dispute_won')}
          label="Disputes"
          counted={now.disputesWon}
          text={`${count(now.disputesWon)} won, ${money(now.recovered)}`}
        />
      ),
      counted: now.disputes,
      to: toOrders('disputed'),
    },
    {
      label: 'Trials That Bought',
      value: count(now.trials),
      note: against('Trials', count(before.trials), before.trials, 'trial'),
      counted: now.trials,
      to: toOrders('trial'),
    },
    {
      label: 'Renewals Due',
      value: count(due?.orders ?? 0),
      detail: money(due?.amount ?? 0),
      note: 'in the next 30 days, at what was paid last',
      counted: due?.orders ?? 0,
      to: toDue,
    },
  ]
  return (
    <section
      aria-label="Figures"
      className="grid grid-cols-2 gap-3 max-sm:[&>:first-child]:col-span-2 md:gap-4 lg:grid-cols-4"
    >
      {cards.map(({ counted, to, ...card }) => (
        <StatCard key={card.label} {...card} to={counted > 0 ? to : undefined} loading={loading} />
      ))}
    </section>
  )
}

interface OpensProps {
  to: string
  /** What the number is one of. */
  label: string
  counted: number
  text: string
}

/** A number beside that of a card, with a list of its own above the card's; nothing has none. */
const Opens = ({ to, label, counted, text }: OpensProps) =>
  counted > 0 ? (
    <Link
      to={to}
      aria-label={`${label}: ${text}`}
      className="relative z-1 rounded-sm underline-offset-4 hover:underline"
    >
      {text}
    </Link>
  ) : (
    text
  )
