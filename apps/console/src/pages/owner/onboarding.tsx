import type { User } from '@keyward/contract'
import { useEffect } from 'react'
import { useApps } from '../../features/apps/queries.ts'
import { Checklist } from '../../features/onboarding/checklist.tsx'
import { finishOnboarding } from '../../features/onboarding/done.ts'
import { useActivity, useDashboardStats } from '../../features/stats/queries.ts'

/** The checklist, as far as the account has come; it is over with the first activation, and remembered to be. */
export function Onboarding({ owner }: { owner: User }) {
  const apps = useApps().data
  const stats = useDashboardStats().data
  const days = useActivity().data
  const activated =
    stats !== undefined &&
    (stats.activeLicenses.value > 0 ||
      stats.activeLicenses.change !== 0 ||
      days?.some((day) => day.activations > 0) === true)

  useEffect(() => {
    if (activated) finishOnboarding(owner._id)
  }, [activated, owner._id])

  if (!apps || !stats || !days || activated) return null
  return <Checklist ownerId={owner._id} app={apps[0]} hasLicense={stats.totalLicenses.value > 0} />
}
