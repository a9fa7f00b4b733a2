import type { PlanDuration } from '@keyward/contract'
import { type ReactNode, useEffect, useRef } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import type { Offer } from './offers.ts'

export interface TermOffersProps {
  offers: Offer[]
  label: (offer: Offer) => string
  /** Shown below the price. */
  detail?: (offer: Offer) => ReactNode
  disabled: boolean
  /** The term of the checkout in progress. */
  busy: PlanDuration | undefined
  /** Id of the text that explains why the buttons are disabled. */
  describedBy?: string | undefined
  onChoose: (term: PlanDuration) => void
}

/** The two terms side by side, each with price and button; the first one is recommended. */
export function TermOffers({
  offers,
  label,
  detail,
  disabled,
  busy,
  describedBy,
  onChoose,
}: TermOffersProps) {
  const list = useRef<HTMLUListElement>(null)
  const wasBusy = useRef(busy)
  // A disabled button loses the focus.
  useEffect(() => {
    const ended = busy === undefined ? wasBusy.current : undefined
    wasBusy.current = busy
    if (!ended || document.activeElement !== document.body) return
    list.current?.querySelector<HTMLButtonElement>(`[data-term=${ended}]:not(:disabled)`)?.focus()
  }, [busy])

  return (
    <ul ref={list} className="grid gap-3 min-[420px]:grid-cols-2">
      {offers.map((offer, index) => (
        <li
          key={offer.term}
          className={cx(
            'flex flex-col gap-3 rounded-lg border p-4',
            index === 0 && 'border-accent bg-accent-soft/40',
          )}
        >
          <div className="flex min-h-[1.375rem] flex-wrap items-center justify-between gap-2">
            <h3 className="font-medium">{offer.term}</h3>
            {offer.note && <Badge tone="success">{offer.note}</Badge>}
          </div>
          <p>
            {offer.before && (
              <s className="block text-fg-muted tabular-nums">
                <span className="sr-only">instead of </span>
                {offer.before}
              </s>
            )}
            <span className="font-semibold text-2xl tabular-nums tracking-tight">{offer.price}</span>{' '}
            <span className="whitespace-nowrap text-fg-muted">per {offer.per}</span>
            {offer.comparison && (
              <span className="mt-1 block text-[0.8125rem] text-fg-muted tabular-nums">
                {offer.comparison}
              </span>
            )}
          </p>
          {detail?.(offer)}
          <Button
            variant={index === 0 ? 'primary' : 'secondary'}
            data-term={offer.planDuration}
            disabled={disabled || (busy !== undefined && busy !== offer.planDuration)}
            loading={busy === offer.planDuration}
            aria-describedby={describedBy}
            className="mt-auto max-md:h-11"
            onClick={() => onChoose(offer.planDuration)}
          >
            {label(offer)}
          </Button>
        </li>
      ))}
    </ul>
  )
}
