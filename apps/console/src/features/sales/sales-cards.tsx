import { formatAmount, type SaleFigures, type SaleKind } from '@keyward/contract'
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
  /** The list of orders that a kind of sale counts. */
  toOrders: (sale?: SaleKind) => string
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
  toDue,
}: SalesCardsProps) {
  const money = (amount: number) => formatAmount(amount, currency)
  const count = (value: number) => formatNumber(value) ?? '0'
  const against = (value: string) => `${value} ${compared}`
  const cards = [
    {
      label: 'Revenue',
      value: money(now.revenue),
      note: against(money(before.revenue)),
      to: toOrders(),
    },
    {
      label: 'Orders',
      value: count(now.orders),
      detail: money(now.newRevenue),
      note: against(count(before.orders)),
      to: toOrders('new'),
    },
    {
      label: 'Renewals',
      value: count(now.renewals),
      detail: money(now.renewedRevenue),
      note: against(count(before.renewals)),
      to: toOrders('renewed'),
    },
    {
      label: 'Refunds',
      value: count(now.refunds),
      detail: money(now.refunded),
      note: against(`${count(before.refunds)}, ${money(before.refunded)}`),
      to: toOrders('refunded'),
    },
    {
      label: 'Disputes',
      value: count(now.disputes),
      detail: money(now.disputed),
      note: `${count(now.disputesWon)} won, ${money(now.recovered)}`,
      to: toOrders('disputed'),
    },
    {
      label: 'Trials That Bought',
      value: count(now.trials),
      note: against(count(before.trials)),
      to: toOrders('trial'),
    },
    {
      label: 'Renewals Due',
      value: count(due?.orders ?? 0),
      detail: money(due?.amount ?? 0),
      note: 'in the next 30 days, at what was paid last',
      to: toDue,
    },
  ]
  return (
    <section
      aria-label="Figures"
      className="grid grid-cols-2 gap-3 max-sm:[&>:first-child]:col-span-2 md:gap-4 lg:grid-cols-4"
    >
      {cards.map((card) => (
        <StatCard key={card.label} {...card} loading={loading} />
      ))}
    </section>
  )
}
