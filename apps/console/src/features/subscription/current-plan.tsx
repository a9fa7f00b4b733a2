import { formatAmount, type Payment, type PlanInfo, type Subscription } from '@keyward/contract'
import { Crown } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'
import { toCancellation } from './cancellation.ts'
import { FeatureList } from './feature-list.tsx'
import { OwnServerNote } from './own-server-note.tsx'
import { termsOf } from './payment-status.ts'

const limitText = (limit: number | null) => (limit === null ? 'Unlimited' : formatNumber(limit))

export interface CurrentPlanProps {
  subscription: Subscription
  plan: PlanInfo
  /** Newest first. */
  payments: Payment[]
  /** Undefined for people who may not cancel. */
  onCancel: (() => void) | undefined
}

export function CurrentPlan({ subscription, plan, payments, onCancel }: CurrentPlanProps) {
  const { hasActiveSubscription: premium, cancelledAt, expiryDate, moneyBack } = subscription
  const endless = premium && expiryDate === null
  const change = toCancellation(subscription)
  const term = termsOf(payments)
  const words = stateInWords(subscription, payments)
  return (
    <Card>
      <CardHeader
        title="Current Plan"
        actions={
          <>
            {premium && cancelledAt && <Badge tone="warning">Cancelled</Badge>}
            <Badge tone={premium ? 'accent' : 'neutral'}>
              {premium && <Crown aria-hidden className="size-3" />}
              {plan.name}
            </Badge>
          </>
        }
      />
      <CardBody className="grid gap-5">
        {words.length > 0 && (
          <div className="grid gap-1.5 rounded-lg border bg-sunken px-3.5 py-3">
            {words.map(({ id, text }) => (
              <p key={id}>{text}</p>
            ))}
          </div>
        )}
        <Facts
          items={[
            { label: 'Apps', value: limitText(subscription.appLimit) },
            { label: 'Licenses per App', value: limitText(subscription.licenseLimitPerApp) },
            ...(subscription.source === 'payment' && term ? [{ label: 'Paid Term', value: term }] : []),
            ...(endless
              ? []
              : [
                  {
                    label: premium ? 'Premium Until' : 'Expires',
                    value: <DateText value={expiryDate} none="Never" />,
                  },
                ]),
          ]}
        />
        {!premium && <OwnServerNote className="text-[0.8125rem] text-fg-muted" />}
        <div className="grid gap-2">
          <h3 className="font-medium">What's included</h3>
          <FeatureList features={plan.features} />
        </div>
        {onCancel && change && (
          <div className="grid gap-3 border-t pt-4">
            {moneyBack && (
              <p className="text-pretty text-[0.8125rem] text-fg-muted">
                Until <DateText value={moneyBack.until} /> you can get a full refund of{' '}
                {moneyBack.priceFormatted}.
              </p>
            )}
            <Button variant="dangerGhost" className="justify-self-start max-md:h-11" onClick={onCancel}>
              {change === 'refund' && moneyBack
                ? `Get ${moneyBack.priceFormatted} back`
                : 'Cancel Subscription'}
            </Button>
          </div>
        )}
      </CardBody>
    </Card>
  )
}

/** The state of the plan in sentences, where plan and date do not show it. */
function stateInWords(
  { hasActiveSubscription, cancelledAt, expiryDate, endedAt, source }: Subscription,
  payments: Payment[],
): { id: string; text: ReactNode }[] {
  const refunding = payments.filter(({ status }) => status === 'refunding')
  const [first] = refunding
  const back =
    first &&
    formatAmount(
      refunding.reduce((sum, { amount, amountRefunded }) => sum + amount - amountRefunded, 0),
      first.currency,
    )
  const words = []
  if (hasActiveSubscription && expiryDate === null) {
    words.push({
      id: 'endless',
      text: 'Your premium plan has no end. There is nothing to buy or renew.',
    })
  }
  if (source === 'grant' && expiryDate !== null) {
    words.push({
      id: 'granted',
      text: 'The operator of this server granted you premium. You did not pay for it, and it does not renew.',
    })
  }
  if (hasActiveSubscription && cancelledAt) {
    const ends = back ? (
      <>premium ends once {back} is refunded.</>
    ) : (
      <>
        Premium stays until <DateText value={expiryDate} />.
      </>
    )
    const text = (
      <>
        <strong className="font-medium">Cancelled{back ? ':' : '.'}</strong> {ends}
      </>
    )
    words.push({ id: 'cancelled', text })
  }
  if (!hasActiveSubscription && endedAt) {
    const text = (
      <>
        <strong className="font-medium">
          Premium ended on <DateText value={endedAt} />.
        </strong>{' '}
        Nothing was deleted. The limits of the free plan apply to anything new, and resellers can no longer
        generate licenses.
      </>
    )
    words.push({ id: 'ended', text })
  }
  if (back) {
    const text = `${back} is being refunded. The payment provider has not confirmed it yet; there is nothing you need to do.`
    words.push({ id: 'refunding', text })
  } else if (!hasActiveSubscription && payments[0]?.status === 'refunded') {
    words.push({ id: 'refunded', text: 'Your payment was refunded.' })
  }
  return words
}
