import type { DataOf, endpoints } from '@keyward/contract'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { CheckoutNotes } from './checkout-notes.tsx'
import { CouponField } from './coupon-field.tsx'
import { endAfter } from './notice.ts'
import { toOffers } from './offers.ts'
import { TermOffers } from './term-offers.tsx'
import type { Checkout } from './use-checkout.ts'
import type { Coupon } from './use-coupon.ts'

export interface RenewCardProps {
  pricing: DataOf<typeof endpoints.plans.pricing>
  expiryDate: string
  checkout: Checkout
  coupon: Coupon
}

/** Sells another term in the last days of premium. It is added to the current end. */
export function RenewCard({ pricing, expiryDate, checkout, coupon }: RenewCardProps) {
  const { premium_monthly, premium_yearly } = pricing.plans
  const days = { monthly: premium_monthly.days, yearly: premium_yearly.days }
  return (
    <Card>
      <CardHeader
        title="Renew early"
        description="The new term is added to the current end, so you lose no days."
      />
      <CardBody className="grid gap-5">
        <CheckoutNotes simulated={pricing.checkout === 'mock'} failure={checkout.failure} />
        <TermOffers
          offers={toOffers(pricing.plans, coupon.applied?.totals)}
          label={({ term }) => `Renew ${term}`}
          detail={({ planDuration }) => (
            <p className="text-[0.8125rem] text-fg-muted">
              Premium until <DateText value={endAfter(expiryDate, days[planDuration])} />
            </p>
          )}
          disabled={checkout.waiting !== undefined || coupon.checking}
          busy={checkout.term}
          onChoose={checkout.begin}
        />
        <CouponField coupon={coupon} offered={pricing.coupons} disabled={checkout.term !== undefined} />
      </CardBody>
    </Card>
  )
}
