import { Check, ShieldCheck } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { type PublicConfig, usePublicConfig } from '../../lib/api/public-config.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { pricesId } from './anchors.ts'

/** The prices that this server charges; absent while they are unknown and where no payments are taken. */
export function Prices() {
  const pricing = usePublicConfig()?.pricing
  const known = Boolean(pricing)
  useEffect(() => {
    // The browser looks for the anchor before the prices are known.
    if (known && window.location.hash === `#${pricesId}`) document.getElementById(pricesId)?.scrollIntoView()
  }, [known])
  if (!pricing) return null
  const { free, premium, premium_monthly: month, premium_yearly: year } = pricing

  return (
    <section id={pricesId} aria-labelledby="prices-title" className="scroll-mt-15 py-20 sm:py-28">
      <div className="max-w-2xl">
        <h2 id="prices-title" className="text-3xl font-semibold tracking-tight text-balance">
          Start free, pay when you grow
        </h2>
        <p className="mt-3 text-lg text-fg-muted text-pretty">
          One payment for a whole month or year. It does not renew automatically.
        </p>
      </div>
      <div className="mt-12 grid gap-4 md:grid-cols-2 md:grid-rows-[auto_1fr_auto]">
        <Plan plan={free} action="Start free">
          <p className="mt-4 flex flex-wrap items-baseline gap-x-2">
            <span className="font-semibold text-4xl tabular-nums tracking-tight">{free.priceFormatted}</span>
            <span className="text-fg-muted">without an end date</span>
          </p>
          <p className="mt-2 text-fg-muted">No card needed.</p>
        </Plan>
        <Plan plan={premium} action="Create an account" featured>
          <p className="mt-4 flex flex-wrap items-baseline gap-x-2">
            <span className="font-semibold text-4xl tabular-nums tracking-tight">{year.priceFormatted}</span>
            <span className="text-fg-muted">per year, or {month.priceFormatted} per month</span>
          </p>
          {year.savings.amount > 0 && (
            <p className="mt-2 text-success-text">
              Save {year.savings.percentage}%: {year.priceFormatted} instead of 12 × {month.priceFormatted}
            </p>
          )}
          <p className="mt-2 flex items-center gap-2 text-fg-muted">
            <ShieldCheck aria-hidden className="size-4 shrink-0" />
            Seven-day money-back guarantee
          </p>
        </Plan>
      </div>
    </section>
  )
}

interface PlanProps {
  plan: NonNullable<PublicConfig['pricing']>['free']
  action: string
  featured?: boolean
  children: ReactNode
}

function Plan({ plan: { name, features }, action, featured = false, children }: PlanProps) {
  return (
    <div
      data-featured={featured}
      className="grid content-start gap-y-6 rounded-xl border border-line bg-surface p-6 data-[featured=true]:border-accent-text sm:p-8 md:row-span-3 md:grid-rows-subgrid"
    >
      <div>
        <h3 className="font-semibold text-lg">{name}</h3>
        {children}
      </div>
      <ul className="grid content-start gap-2.5 border-t border-line pt-6 text-[0.9375rem] leading-6">
        {features.map((feature) => (
          <li key={feature} className="flex gap-2.5">
            <Check aria-hidden className="mt-1 size-4 shrink-0 text-success" />
            {feature}
          </li>
        ))}
      </ul>
      <Button asChild size="lg" variant={featured ? 'primary' : 'secondary'} className="mt-2">
        <a href={paths.auth}>{action}</a>
      </Button>
    </div>
  )
}
