import type { Payment } from '@keyward/contract'
import { ReceiptText } from 'lucide-react'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { hasReceipt, statusFacts, termLabel } from './payment-status.ts'
import { usePayments } from './queries.ts'

const columns: Column<Payment>[] = [
  {
    id: 'date',
    header: 'Date',
    phone: 'title',
    cell: ({ createdAt }) => <DateText value={createdAt} className="max-md:font-medium" />,
  },
  {
    id: 'plan',
    header: 'Plan',
    phone: 'whole',
    cell: (payment) => <span className="whitespace-nowrap">{termLabel(payment)}</span>,
  },
  {
    id: 'amount',
    header: 'Amount',
    phone: 'whole',
    cell: (payment) => (
      <span className="tabular-nums">
        {payment.listAmount !== payment.amount && (
          <s className="mr-1.5 text-fg-muted">
            <span className="sr-only">instead of </span>
            {payment.listFormatted}
          </s>
        )}
        <span className="font-medium">{payment.priceFormatted}</span>
        {payment.couponCode && (
          <span className="wrap-break-word block max-w-52 text-[0.8125rem] text-fg-muted">
            {payment.couponCode}: {payment.discount}% off
          </span>
        )}
        {payment.amountRefunded > 0 && payment.amountRefunded < payment.amount && (
          <span className="block text-[0.8125rem] text-fg-muted">{payment.refundedFormatted} refunded</span>
        )}
      </span>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    phone: 'aside',
    cell: ({ status, note }) => (
      <div className="grid gap-1 md:py-1">
        <StateBadge {...statusFacts[status]} className="justify-self-start max-md:justify-self-end" />
        {note && <span className="max-w-56 text-balance text-[0.8125rem] text-fg-muted">{note}</span>}
      </div>
    ),
  },
  {
    id: 'payment',
    header: 'Payment ID',
    phone: 'third',
    cell: ({ paymentId }) => (
      <div className="flex min-w-0 items-center gap-1">
        <code className="truncate font-mono text-[0.8125rem] md:max-w-36" title={paymentId}>
          {paymentId}
        </code>
        <CopyButton text={paymentId} label={`Copy payment ID ${paymentId}`} />
      </div>
    ),
  },
]

export function PaymentHistory({ onReceipt }: { onReceipt: (payment: Payment) => void }) {
  const payments = usePayments()
  return (
    <Card className="overflow-clip">
      <CardHeader title="Payment History" description="Your payments, each with its receipt." />
      <Table
        caption="Payments"
        columns={columns}
        rows={payments.data}
        loading={payments.isPending}
        skeletonRows={3}
        rowKey={({ _id }) => _id}
        rowMenu={(payment) =>
          hasReceipt(payment) && (
            <Button
              variant="ghost"
              size="sm"
              aria-label={`Receipt of ${payment.paymentId}`}
              onClick={() => onReceipt(payment)}
            >
              <ReceiptText />
              Receipt
            </Button>
          )
        }
        error={
          payments.isError && !payments.data
            ? {
                title: 'Failed to fetch payment history',
                description: payments.error.message,
                onRetry: () => void payments.refetch(),
                retrying: payments.isFetching,
              }
            : undefined
        }
        empty={
          <EmptyState
            icon={<ReceiptText />}
            title="No payments yet"
            description="What you pay for premium appears here, with a receipt to print."
          />
        }
      />
    </Card>
  )
}
