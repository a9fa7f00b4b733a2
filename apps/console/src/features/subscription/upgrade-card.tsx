import type { DataOf, endpoints, PlanInfo } from '@keyward/contract'
import { ShieldCheck } from 'lucide-react'
import { useId } from 'react'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { CheckoutNotes } from './checkout-notes.tsx'
import { CouponField } from './coupon-field.tsx'
import { FeatureList } from './feature-list.tsx'
import { toOffers } from './offers.ts'
import { TermOffers } from './term-offers.tsx'
import type { Checkout } from './use-checkout.ts'
import type { Coupon } from './use-coupon.ts'

export interface UpgradeCardProps {
  premium: PlanInfo
  /** Undefined while the prices cannot be loaded. */
  pricing: DataOf<typeof endpoints.plans.pricing> | undefined
  active: boolean
  expiryDate: string | null
  checkout: Checkout
  coupon: Coupon
}

export function UpgradeCard({ premium, pricing, active, expiryDate, checkout, coupon }: UpgradeCardProps) {
  const reasonId = useId()
  const open = !active && pricing !== undefined
  const reason = active ? (
    <p>
      Premium is active
      {expiryDate && (
        <>
          {' '}
          until <DateText value={expiryDate} />
        </>
      )}
      .
    </p>
  ) : checkout.waiting ? (
    <p>A payment is waiting for confirmation.</p>
  ) : undefined
  return (
    <Card>
      <CardHeader
        title={active ? 'Premium' : 'Upgrade to Premium'}
        description="No limits on apps, licenses and resellers."
      />
      <CardBody className="grid gap-5">
        {!active && <FeatureList features={premium.features} />}
        {open && <CheckoutNotes simulated={pricing.checkout === 'mock'} failure={checkout.failure} />}
        <TermOffers
          offers={toOffers(pricing?.plans, active ? undefined : coupon.applied?.totals)}
          label={({ term }) => (active ? 'Premium is active' : `Upgrade ${term}`)}
          disabled={!open || checkout.waiting !== undefined || coupon.checking}
          busy={checkout.term}
          describedBy={reason || !pricing ? reasonId : undefined}
          onChoose={checkout.begin}
        />
        <div className="flex gap-2.5">
          <ShieldCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-success-text" />
          <div className="grid gap-0.5">
            <p className="font-medium">Seven-day money-back guarantee</p>
            <p className="text-[0.8125rem] text-fg-muted text-pretty">
              Cancel within seven days of your first payment to get a full refund.
              {open && ' One payment for the whole term. It does not renew automatically.'}
            </p>
          </div>
        </div>
        {(reason || !pricing) && (
          <div id={reasonId} className="grid gap-1 text-fg-muted">
            {!pricing && <p>Failed to load the prices of this server. These are the usual prices.</p>}
            {reason}
          </div>
        )}
        {!active && (
          <CouponField
            coupon={coupon}
            offered={pricing?.coupons ?? []}
            disabled={!open || checkout.term !== undefined}
          />
        )}
      </CardBody>
    </Card>
  )
}

/** The free plan where nothing is sold. */
export function AskOperatorCard({ premium }: Pick<UpgradeCardProps, 'premium'>) {
  return (
    <Card>
      <CardHeader title="Premium" description="No limits on apps, licenses and resellers." />
      <CardBody className="grid gap-5">
        <FeatureList features={premium.features} />
        <p className="text-fg-muted">
          Payments are turned off on this server. Ask its operator for the premium plan.
        </p>
      </CardBody>
    </Card>
  )
}
