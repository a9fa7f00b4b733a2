import type { User } from '@keyward/contract'
import { type ReactNode, useEffect, useState } from 'react'
import { useApps } from '../../features/apps/queries.ts'
import { Checklist } from '../../features/onboarding/checklist.tsx'
import { finishOnboarding, useOnboardingDone } from '../../features/onboarding/done.ts'
import { useActivity, useDashboardStats } from '../../features/stats/queries.ts'
import { Skeleton } from '../../ui/skeleton.tsx'

export interface OnboardingProps {
  owner: User
  /** The page below. It waits for the checklist, which would shift it. */
  children: ReactNode
}

/** The checklist with the account's progress. The first activation completes it permanently. */
export function Onboarding({ owner, children }: OnboardingProps) {
  const onboarded = useOnboardingDone(owner._id)
  const [appsQuery, statsQuery, activityQuery] = [useApps(), useDashboardStats(), useActivity()]
  const [apps, stats, days] = [appsQuery.data, statsQuery.data, activityQuery.data]
  const activated =
    stats !== undefined &&
    (stats.activeLicenses.value > 0 ||
      stats.activeLicenses.change !== 0 ||
      days?.some((day) => day.activations > 0) === true)

  useEffect(() => {
    if (activated) finishOnboarding(owner._id)
  }, [activated, owner._id])

  // Wait only once: the page below refetches failed queries, so hiding it again would loop.
  const [settled, setSettled] = useState(false)
  const pending = appsQuery.isPending || statsQuery.isPending || activityQuery.isPending
  if (!pending && !settled) setSettled(true)
  if (pending && !settled) return <Skeleton className="h-dvh rounded-xl" />
  return (
    <>
      {apps && stats && days && !activated && !onboarded && (
        <Checklist ownerId={owner._id} app={apps[0]} hasLicense={stats.totalLicenses.value > 0} />
      )}
      {children}
    </>
  )
}
