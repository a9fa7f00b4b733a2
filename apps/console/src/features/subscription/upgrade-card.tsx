import type { PlanInfo, Pricing } from '@keyward/contract'
import { useId } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { FeatureList } from './current-plan.tsx'
import { toOffers } from './offers.ts'

export interface UpgradeCardProps {
  premium: PlanInfo
  /** Undefined while the prices cannot be loaded. */
  pricing: Pricing | undefined
  active: boolean
  expiryDate: string | null
}

/** No order can be placed on this server, so the buttons name the prices and say why they cannot be pressed. */
export function UpgradeCard({ premium, pricing, active, expiryDate }: UpgradeCardProps) {
  const reason = useId()
  return (
    <Card>
      <CardHeader
        title={active ? 'Premium' : 'Upgrade to Premium'}
        description="No limits on apps, licenses and resellers."
      />
      <CardBody className="grid gap-5">
        {!active && <FeatureList features={premium.features} />}
        <ul className="grid gap-3 min-[420px]:grid-cols-2">
          {toOffers(pricing).map(({ term, price, per, note }) => (
            <li key={term} className="flex flex-col gap-3 rounded-lg border p-4">
              <div className="flex min-h-[1.375rem] flex-wrap items-center justify-between gap-2">
                <h3 className="font-medium">{term}</h3>
                {note && <Badge tone="success">{note}</Badge>}
              </div>
              <p>
                <span className="font-semibold text-2xl tabular-nums tracking-tight">{price}</span>{' '}
                <span className="text-fg-muted">per {per}</span>
              </p>
              <Button variant="primary" disabled aria-describedby={reason} className="mt-auto">
                {active ? 'Premium is active' : `Upgrade ${term}`}
              </Button>
            </li>
          ))}
        </ul>
        <div id={reason} className="grid gap-1 text-fg-muted">
          {!pricing && <p>The prices of this server could not be loaded; these are the usual ones.</p>}
          {active ? (
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
          ) : (
            <p>Checkout is switched off on this server. Its operator can give you the premium plan.</p>
          )}
        </div>
      </CardBody>
    </Card>
  )
}
