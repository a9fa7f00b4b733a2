import { ArrowRight } from 'lucide-react'
import { type PublicConfig, usePublicConfig } from '../../lib/api/public-config.ts'
import { paths, signUpPath } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { pricesId } from './anchors.ts'
import { VerdictDemo } from './verdict-demo.tsx'

type Pricing = NonNullable<PublicConfig['pricing']>

export function Hero() {
  return (
    <section className="mx-auto grid max-w-6xl items-center gap-14 px-5 py-16 sm:px-8 sm:py-24 lg:grid-cols-[minmax(0,1fr)_minmax(0,30rem)] lg:gap-16">
      <div>
        <p className="text-sm font-medium text-accent-text">Self-hosted licensing for software vendors</p>
        <h1 className="mt-4 text-4xl font-semibold tracking-tight text-balance sm:text-5xl lg:text-6xl">
          License keys your program can trust
        </h1>
        <p className="mt-6 max-w-xl text-lg leading-8 text-fg-muted text-pretty">
          Sell a key, and your program gets an answer that cannot be forged. Keyward issues licenses, locks
          them to machines and signs every verdict, on your own server.
        </p>
        <div className="mt-9 flex flex-wrap gap-3">
          <Button asChild variant="primary" size="lg">
            <a href={signUpPath}>
              Get started
              <ArrowRight aria-hidden />
            </a>
          </Button>
          <Button asChild size="lg">
            <a href={paths.dashboard}>Go to the dashboard</a>
          </Button>
        </div>
        <Cost />
      </div>
      <VerdictDemo />
    </section>
  )
}

/** What an account on this server costs. The two lines of a phone are reserved while that is unknown. */
function Cost() {
  const config = usePublicConfig()
  return (
    <p className="mt-6 min-h-10 text-sm text-fg-muted sm:min-h-5">
      {config?.pricing && <Offer pricing={config.pricing} />}
      {config?.pricing === null && 'An account on this server costs nothing.'}
    </p>
  )
}

function Offer({ pricing: { free, premium_monthly: month } }: { pricing: Pricing }) {
  const { maxApps, maxLicensesPerApp } = free.limits
  return (
    <>
      Free for {maxApps} apps with {maxLicensesPerApp} licenses each.{' '}
      <a className="font-medium text-accent-text underline-offset-2 hover:underline" href={`#${pricesId}`}>
        Premium for {month.priceFormatted} per month
      </a>
    </>
  )
}
