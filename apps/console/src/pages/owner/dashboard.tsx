import { unlimited } from '@keyward/contract'
import { Box, Crown, Plus, Rocket, Sparkles } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link } from 'react-router'
import { useOwner } from '../../features/account/session.ts'
import { AppDialogs, useAppDialog } from '../../features/apps/app-dialogs.tsx'
import { AppList } from '../../features/apps/app-list.tsx'
import { useAppCount } from '../../features/apps/queries.ts'
import { useOnboardingDone } from '../../features/onboarding/done.ts'
import { ActivityChart } from '../../features/stats/activity-chart.tsx'
import { StatCards } from '../../features/stats/stat-cards.tsx'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card, StatCard } from '../../ui/card.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout, EmptyState } from '../../ui/states.tsx'

const Onboarding = lazyNamed(() => import('./onboarding.tsx'), 'Onboarding')

export function DashboardPage() {
  const owner = useOwner().data
  const onboarded = useOnboardingDone(owner?._id ?? '')
  // Keep the wrapper while the page is open: removing it after the first activation would remount the page.
  const [onboarding] = useState(!onboarded)
  const appCount = useAppCount()
  const dialog = useAppDialog()
  if (!owner) return null

  const count = appCount ?? owner.appCount
  const premium = owner.plan === 'premium'
  const limitless = owner.maxApps === unlimited
  const empty = count === 0
  const content = (
    <>
      <section aria-label="Plan" className="grid grid-cols-2 gap-3 md:gap-4">
        <StatCard
          label="Total Apps"
          icon={<Box aria-hidden />}
          value={count}
          detail={`of ${limitless ? '∞' : owner.maxApps}`}
        />
        <StatCard
          label="Plan"
          icon={<Crown aria-hidden />}
          value={premium ? 'Premium' : 'Free'}
          detail={premium ? 'Unlimited' : 'Limited'}
        />
      </section>
      {!empty && <StatCards />}
      <AppList owner={owner} />
      {empty ? (
        <Card>
          <EmptyState
            icon={<Rocket />}
            title="No Application Created"
            description="Create an application to get an identifier, a secret and a code snippet for your program."
            actions={
              <>
                <Button variant="primary" onClick={() => dialog.open('new-app')}>
                  <Plus />
                  Create Your First App
                </Button>
                <Button asChild>
                  <a href={paths.docs} aria-label="Learn More about the API">
                    Learn More
                  </a>
                </Button>
              </>
            }
          />
        </Card>
      ) : (
        <ActivityChart />
      )}
    </>
  )
  return (
    <div className="grid gap-6">
      <PageHeader
        title={`Welcome back, ${owner.name}`}
        tabTitle="Dashboard"
        subtitle="Your applications and their licenses at a glance."
      />
      {!premium && (
        <Callout
          tone="accent"
          icon={<Sparkles aria-hidden />}
          title="Upgrade to Premium"
          action={
            <Button asChild variant="primary">
              <Link to={paths.subscription}>Upgrade Now</Link>
            </Button>
          }
        >
          Unlock unlimited apps and licenses. Currently using {count} of{' '}
          {limitless ? 'unlimited' : owner.maxApps} apps.
        </Callout>
      )}
      {onboarding ? (
        <Suspense fallback={<Skeleton className="h-dvh rounded-xl" />}>
          <Onboarding owner={owner}>{content}</Onboarding>
        </Suspense>
      ) : (
        content
      )}
      <AppDialogs canCreate={limitless || count < owner.maxApps} />
    </div>
  )
}
