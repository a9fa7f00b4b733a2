import type { Subscription } from '@keyward/contract'
import { type ReactNode, useId, useState } from 'react'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { cx } from '../../ui/cx.ts'
import { DateText } from '../../ui/date.tsx'
import { useCancelSubscription } from './queries.ts'

const endsNow =
  'Premium ends now. Nothing is deleted, but the limits of the free plan apply to anything new, and resellers can no longer generate licenses.'

export function CancelDialog({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const { expiryDate, moneyBack, cancelledAt, source } = subscription
  const keeps = expiryDate === null || source !== 'payment'
  const refundOnly = cancelledAt !== null || keeps
  const [refund, setRefund] = useState(refundOnly && moneyBack !== null)
  const cancel = useCancelSubscription(onClose)
  const back = moneyBack && `Get ${moneyBack.priceFormatted} back`
  const until = <DateText value={expiryDate} none="its end" />
  return (
    <ConfirmDialog
      onClose={onClose}
      title={refundOnly && back ? `${back}?` : 'Cancel your subscription?'}
      description={
        refundOnly ? undefined : (
          <>Premium stays until {until}, and nothing renews automatically: you will not be charged again.</>
        )
      }
      loss={refund && !keeps ? endsNow : undefined}
      cancelLabel={cancelledAt ? `Keep premium` : 'Not now'}
      confirmLabel={refund && back ? back : 'Cancel Subscription'}
      busy={cancel.isPending}
      onConfirm={() => cancel.mutate(refund)}
    >
      {!refundOnly && moneyBack && (
        <fieldset className="grid gap-2">
          <legend className="mb-2 font-medium">What should happen?</legend>
          <Option checked={!refund} onChoose={() => setRefund(false)} title={<>Keep premium until {until}</>}>
            You keep what you paid for.
          </Option>
          <Option checked={refund} onChoose={() => setRefund(true)} title={back}>
            Premium ends now. Offered until <DateText value={moneyBack.until} />.
          </Option>
        </fieldset>
      )}
      {refundOnly && moneyBack && (
        <p className="text-fg-muted">
          Refunded in full. Available until <DateText value={moneyBack.until} />.{' '}
          {keeps ? 'Your premium plan stays.' : <>Otherwise premium stays until {until}.</>}
        </p>
      )}
    </ConfirmDialog>
  )
}

interface OptionProps {
  checked: boolean
  onChoose: () => void
  title: ReactNode
  children: ReactNode
}

function Option({ checked, onChoose, title, children }: OptionProps) {
  const id = useId()
  return (
    <label
      className={cx(
        'flex cursor-pointer gap-3 rounded-lg border px-3.5 py-3 has-focus-visible:outline-2 has-focus-visible:outline-accent-text',
        checked ? 'border-accent bg-accent-soft' : 'hover:bg-hover',
      )}
    >
      <input
        type="radio"
        name="outcome"
        checked={checked}
        onChange={onChoose}
        aria-describedby={id}
        className="mt-0.5 size-4 shrink-0 accent-accent outline-none"
      />
      <span className="grid gap-0.5">
        <span className="font-medium">{title}</span>
        <span id={id} className="text-[0.8125rem] text-fg-muted">
          {children}
        </span>
      </span>
    </label>
  )
}
