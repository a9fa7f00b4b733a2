import { Closing } from '../../features/landing/closing.tsx'
import { ConsoleTour } from '../../features/landing/console-tour.tsx'
import { Facts } from '../../features/landing/facts.tsx'
import { FeatureCards } from '../../features/landing/feature-cards.tsx'
import { Hero } from '../../features/landing/hero.tsx'
import { Prices } from '../../features/landing/prices.tsx'
import { SignedAnswer } from '../../features/landing/signed-answer.tsx'
import { Steps } from '../../features/landing/steps.tsx'
import { Testimonials } from '../../features/landing/testimonials.tsx'
import { UseCases } from '../../features/landing/use-cases.tsx'
import { usePageMeta } from './use-page-meta.ts'

export function LandingPage() {
  usePageMeta(
    'Keyward: software licensing on your own server',
    'Issue license keys, lock them to machines and answer every check with a signed verdict, on your own server.',
  )

  return (
    <>
      <Hero />
      <Facts />
      <div className="mx-auto max-w-6xl divide-y px-5 sm:px-8">
        <UseCases />
        <ConsoleTour />
        <FeatureCards />
        <Steps />
        <SignedAnswer />
        <Prices />
        <Testimonials />
      </div>
      <Closing />
    </>
  )
}
