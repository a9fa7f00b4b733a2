import { ArrowRight } from 'lucide-react'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { VerdictDemo } from './verdict-demo.tsx'

export function Hero() {
  return (
    <section className="mx-auto grid max-w-6xl items-center gap-14 px-5 py-16 sm:px-8 sm:py-24 lg:grid-cols-[minmax(0,1fr)_minmax(0,30rem)] lg:gap-16">
      <div>
        <p className="text-sm font-medium text-accent-text">Software licensing, self-hosted</p>
        <h1 className="mt-4 text-4xl font-semibold tracking-tight text-balance sm:text-5xl lg:text-6xl">
          License keys your program can trust
        </h1>
        <p className="mt-6 max-w-xl text-lg leading-8 text-fg-muted text-pretty">
          Sell a key, and your program gets an answer that cannot be forged. Keyward issues licenses, locks
          them to machines and signs every verdict, on your own server.
        </p>
        <div className="mt-9 flex flex-wrap gap-3">
          <Button asChild variant="primary" size="lg">
            <a href={paths.auth}>
              Get started
              <ArrowRight aria-hidden />
            </a>
          </Button>
          <Button asChild size="lg">
            <a href={paths.dashboard}>Go to the dashboard</a>
          </Button>
        </div>
        <p className="mt-6 text-sm text-fg-muted">Free for 2 apps with 30 licenses each. No card needed.</p>
      </div>
      <VerdictDemo />
    </section>
  )
}
