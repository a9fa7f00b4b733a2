import type { Payment, PlanInfo, Subscription } from '@keyward/contract'
import { Crown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'
import { FeatureList } from './feature-list.tsx'

const limitText = (limit: number | null) => (limit === null ? 'Unlimited' : limit.toLocaleString('en-US'))

export interface CurrentPlanProps {
  subscription: Subscription
  plan: PlanInfo
  /** The newest one. */
  lastPayment: Payment | undefined
  onCancel: () => void
}

export function CurrentPlan({ subscription, plan, lastPayment, onCancel }: CurrentPlanProps) {
  const { hasActiveSubscription: premium, cancelledAt, expiryDate, moneyBack } = subscription
  const words = stateInWords(subscription, lastPayment)
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
            {
              label: premium ? 'Premium Until' : 'Expires',
              value: <DateText value={expiryDate} none="Never" />,
            },
          ]}
        />
        <div className="grid gap-2">
          <h3 className="font-medium">What it includes</h3>
          <FeatureList features={plan.features} />
        </div>
        {premium && (!cancelledAt || moneyBack) && (
          <div className="grid gap-3 border-t pt-4">
            {moneyBack && (
              <p className="text-[0.8125rem] text-fg-muted">
                Until <DateText value={moneyBack.until} /> you can have all of your {moneyBack.priceFormatted}{' '}
                back.
              </p>
            )}
            <Button variant="dangerGhost" className="justify-self-start max-md:h-11" onClick={onCancel}>
              {cancelledAt && moneyBack ? `Get ${moneyBack.priceFormatted} back` : 'Cancel subscription'}
            </Button>
          </div>
        )}
      </CardBody>
    </Card>
  )
}

/** What is not to be seen from plan and date alone. */
function stateInWords(
  { hasActiveSubscription, cancelledAt, expiryDate, endedAt }: Subscription,
  lastPayment: Payment | undefined,
): { id: string; text: ReactNode }[] {
  const words = []
  if (hasActiveSubscription && cancelledAt) {
    const text = (
      <>
        <strong className="font-medium">Cancelled.</strong> Premium stays until{' '}
        <DateText value={expiryDate} />.
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
  if (lastPayment?.status === 'refunding') {
    const text = `${lastPayment.priceFormatted} is on its way back to you. The payment provider has not confirmed it yet; there is nothing you need to do.`
    words.push({ id: 'refunding', text })
  }
  if (lastPayment?.status === 'refunded' && !hasActiveSubscription) {
    words.push({ id: 'refunded', text: `${lastPayment.refundedFormatted} was given back to you.` })
  }
  return words
}
