import type { PlanInfo, Subscription } from '@keyward/contract'
import { Check, Crown } from 'lucide-react'
import { Badge } from '../../ui/badge.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'

const limitText = (limit: number | null) => (limit === null ? 'Unlimited' : limit.toLocaleString('en-US'))

export interface CurrentPlanProps {
  subscription: Subscription
  plan: PlanInfo
}

export function CurrentPlan({ subscription, plan }: CurrentPlanProps) {
  const premium = subscription.hasActiveSubscription
  return (
    <Card>
      <CardHeader
        title="Current Plan"
        actions={
          <Badge tone={premium ? 'accent' : 'neutral'}>
            {premium && <Crown aria-hidden className="size-3" />}
            {plan.name}
          </Badge>
        }
      />
      <CardBody className="grid gap-5">
        <Facts
          items={[
            { label: 'Apps', value: limitText(subscription.appLimit) },
            { label: 'Licenses per App', value: limitText(subscription.licenseLimitPerApp) },
            {
              label: premium ? 'Premium Until' : 'Expires',
              value: <DateText value={subscription.expiryDate} none="Never" />,
            },
          ]}
        />
        <div className="grid gap-2">
          <h3 className="font-medium">What it includes</h3>
          <FeatureList features={plan.features} />
        </div>
      </CardBody>
    </Card>
  )
}

export function FeatureList({ features }: { features: string[] }) {
  return (
    <ul className="grid gap-2 text-fg-muted">
      {features.map((feature) => (
        <li key={feature} className="flex gap-2.5">
          <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-success-text" />
          {feature}
        </li>
      ))}
    </ul>
  )
}
