import type { User } from '@keyward/contract'
import { Plus } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useAppDialog } from '../../features/apps/app-dialogs.tsx'
import { useApps } from '../../features/apps/queries.ts'
import { Checklist } from '../../features/onboarding/checklist.tsx'
import { finishOnboarding, useOnboardingDone } from '../../features/onboarding/done.ts'
import { useNextSteps } from '../../features/onboarding/next-steps.ts'
import { StepCard } from '../../features/onboarding/step-card.tsx'
import { useActivity, useDashboardStats } from '../../features/stats/queries.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

export interface OnboardingProps {
  owner: User
  /** Whether the owner has no app. */
  empty: boolean
  /** The page below. It waits for the checklist, which would shift it. */
  children: ReactNode
}

/** The steps to the first activation, then what comes next, until each is done or dismissed. */
export function Onboarding({ owner, empty, children }: OnboardingProps) {
  const onboarded = useOnboardingDone(owner.vendor._id)
  const mayFollow = useMay()(wire.apps.create, wire.licenses.create)
  const queries = [useApps(), useDashboardStats(), useActivity()] as const
  const [apps, stats, days] = [queries[0].data, queries[1].data, queries[2].data]
  const activated =
    stats !== undefined &&
    (stats.activeLicenses.value > 0 ||
      stats.activeLicenses.change !== 0 ||
      days?.some((day) => day.activations > 0) === true)
  // Vendors with older licenses have found their way: they get no steps, and nothing is requested for them.
  const isNew = stats !== undefined && stats.totalLicenses.value <= stats.totalLicenses.added
  const { steps, pending: isStepPending } = useNextSteps({
    owner,
    apps: apps ?? [],
    hasReseller: (stats?.totalResellers.value ?? 0) > 0,
    enabled: activated && isNew && mayFollow && !onboarded,
  })
  const finished = activated && (!isNew || !mayFollow || steps?.every(({ done }) => done) === true)

  useEffect(() => {
    if (finished) finishOnboarding(owner.vendor._id)
  }, [finished, owner.vendor._id])

  // Wait only once, and only for the first try: the page below refetches and reports failed queries.
  const [settled, setSettled] = useState(false)
  const pending = isStepPending || queries.some((query) => query.isPending && query.failureCount === 0)
  if (!pending && !settled) setSettled(true)
  if (pending && !settled) return <Skeleton className="h-dvh rounded-xl" />
  const checklist = () => {
    if (onboarded || !mayFollow || !apps || !stats || !days) return null
    if (activated && !isStepPending) {
      if (!steps?.some(({ done }) => !done)) return null
      return <StepCard title="Next steps" steps={steps} onHide={() => finishOnboarding(owner.vendor._id)} />
    }
    return <Checklist ownerId={owner.vendor._id} apps={apps} hasLicense={stats.totalLicenses.value > 0} />
  }
  return (
    <>
      {empty ? (
        <div className="grid gap-6 has-[ol]:lg:grid-cols-[minmax(0,1fr)_20rem]">
          <FirstApp />
          {checklist()}
        </div>
      ) : (
        checklist()
      )}
      {children}
    </>
  )
}

function FirstApp() {
  const dialog = useAppDialog()
  const mayCreate = dialog.may('new-app')
  return (
    <Card className="grid content-center justify-items-center gap-1.5 px-6 py-12 text-center">
      <div className="key-row mb-4">
        <LogoMark className="size-12" />
      </div>
      <h2 className="font-semibold text-lg">No Application Created</h2>
      <p className="max-w-sm text-pretty text-fg-muted">
        {mayCreate
          ? 'Create an application to get an identifier, a secret and a code snippet for your program.'
          : 'There is no application that you may see. Ask the owner of this account.'}
      </p>
      <div className="mt-5 flex flex-wrap justify-center gap-2">
        {mayCreate && (
          <Button variant="primary" size="lg" onClick={() => dialog.open('new-app')}>
            <Plus />
            Create Your First App
          </Button>
        )}
        <Button asChild size="lg" variant="ghost">
          <a href={paths.docs} aria-label="Learn More about the API">
            Learn More
          </a>
        </Button>
      </div>
    </Card>
  )
}
