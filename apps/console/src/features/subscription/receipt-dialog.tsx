import { formatAmount, type Payment } from '@keyward/contract'
import { Printer } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Button } from '../../ui/button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { methodLabel, statusFacts, termLabel } from './payment-status.ts'

export interface ReceiptDialogProps {
  payment: Payment
  billedTo: { name: string; email: string }
  onClose: () => void
}

export function ReceiptDialog({ payment, billedTo, onClose }: ReceiptDialogProps) {
  // Browsers name a printed file after the document title.
  useEffect(() => {
    const { title } = document
    document.title = `Receipt ${payment.receipt} · Keyward`
    return () => {
      document.title = title
    }
  }, [payment.receipt])

  return (
    <Dialog onClose={onClose} title="Receipt" size="lg">
      <DialogBody tabIndex={0}>
        <Receipt payment={payment} billedTo={billedTo} />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>Close</Button>
        <Button variant="primary" onClick={() => window.print()}>
          <Printer />
          Print
        </Button>
      </DialogFooter>
    </Dialog>
  )
}

function Receipt({ payment, billedTo }: Pick<ReceiptDialogProps, 'payment' | 'billedTo'>) {
  const { periodStart, periodEnd, couponCode } = payment
  return (
    <article data-printed className="grid gap-6">
      <header className="flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
        <div className="flex items-center gap-2.5">
          <LogoMark className="size-9" />
          <div>
            <p className="font-semibold text-[0.9375rem]">Keyward</p>
            <p className="text-[0.8125rem] text-fg-muted">{window.location.host}</p>
          </div>
        </div>
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
          <Line label="Receipt number">
            <span className="break-all font-mono text-[0.8125rem]">{payment.receipt}</span>
          </Line>
          <Line label="Date">
            <DateText value={payment.createdAt} />
          </Line>
          <Line label="Status">{statusFacts[payment.status].label}</Line>
        </dl>
      </header>
      {payment.isDevelopmentMode && (
        <p className="rounded-lg border border-warning-line bg-warning-soft px-3.5 py-2.5 font-medium text-warning-text">
          Simulated in development mode. No money was paid.
        </p>
      )}
      <div className="grid gap-1">
        <h3 className="text-[0.8125rem] text-fg-muted">Billed to</h3>
        <p className="wrap-anywhere font-medium">{billedTo.name}</p>
        <p className="wrap-anywhere">{billedTo.email}</p>
      </div>
      <dl className="grid rounded-lg border">
        <Amount
          label={
            <>
              <span className="font-medium text-fg">{termLabel(payment)}</span>
              {periodStart && periodEnd && (
                <span className="block text-[0.8125rem]">
                  <DateText value={periodStart} /> to <DateText value={periodEnd} />
                </span>
              )}
            </>
          }
        >
          {payment.listFormatted}
        </Amount>
        {couponCode && (
          <Amount label={`Coupon ${couponCode}, ${payment.discount}% off`}>
            −{formatAmount(payment.listAmount - payment.amount, payment.currency)}
          </Amount>
        )}
        <Amount label={<span className="font-semibold text-fg">Total</span>} strong>
          {payment.priceFormatted}
        </Amount>
        {payment.amountRefunded > 0 && <Amount label="Refunded">−{payment.refundedFormatted}</Amount>}
      </dl>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
        <Line label="Payment method">{methodLabel(payment)}</Line>
        <Line label="Payment ID">
          <span className="break-all font-mono text-[0.8125rem]">{payment.paymentId}</span>
        </Line>
        <Line label="Order ID">
          <span className="break-all font-mono text-[0.8125rem]">{payment.orderId}</span>
        </Line>
        {payment.note && <Line label="Note">{payment.note}</Line>}
      </dl>
    </article>
  )
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-fg-muted">{label}</dt>
      <dd className="min-w-0 font-medium">{children}</dd>
    </>
  )
}

function Amount({ label, strong, children }: { label: ReactNode; strong?: boolean; children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-4 border-t px-4 py-3 first:border-t-0">
      <dt className="min-w-0 text-fg-muted">{label}</dt>
      <dd className={`shrink-0 tabular-nums ${strong ? 'font-semibold text-base' : ''}`}>{children}</dd>
    </div>
  )
}
