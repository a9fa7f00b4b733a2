import type { PortalStats } from '@keyward/contract'
import { CircleCheck, CircleDashed, Clock, KeyRound } from 'lucide-react'
import { StatCard } from '../../ui/card.tsx'
import { percentOf } from './status.ts'

export interface PortalStatsProps {
  stats: PortalStats | undefined
  loading: boolean
}

/** The figures of the dashboard. */
export function PortalSummary({ stats, loading }: PortalStatsProps) {
  return (
    <section
      aria-label="Figures"
      className="grid grid-cols-2 gap-3 max-md:[&>:first-child]:col-span-2 md:grid-cols-3 md:gap-4"
    >
      <StatCard
        label="Total Generated"
        value={count(stats?.total)}
        note={stats ? `${count(stats.remaining)} remaining` : 'Remaining'}
        icon={<KeyRound aria-hidden />}
        loading={loading}
      />
      <StatCard
        label="Active Licenses"
        value={count(stats?.active)}
        note={stats ? `${percentOf(stats.active, stats.total)}% of total` : 'Of total'}
        icon={<CircleCheck aria-hidden />}
        loading={loading}
      />
      <StatCard
        label="Used Licenses"
        value={count(stats?.used)}
        note={stats ? `${percentOf(stats.used, stats.total)}% usage rate` : 'Usage rate'}
        icon={<CircleDashed aria-hidden />}
        loading={loading}
      />
    </section>
  )
}

/** The figures above the list of licenses. */
export function PortalLicenseStats({ stats, loading }: PortalStatsProps) {
  return (
    <section aria-label="Figures" className="grid grid-cols-2 gap-3 md:gap-4 lg:grid-cols-4">
      <StatCard
        label="Total Generated"
        value={count(stats?.total)}
        note={stats ? `${count(stats.remaining)} remaining` : 'Remaining'}
        icon={<KeyRound aria-hidden />}
        loading={loading}
      />
      <StatCard
        label="Available"
        value={count(stats?.available)}
        note="Ready to hand out"
        icon={<CircleDashed aria-hidden />}
        loading={loading}
      />
      <StatCard
        label="Used"
        value={count(stats?.used)}
        note="Activated by somebody"
        icon={<CircleCheck aria-hidden />}
        loading={loading}
      />
      <StatCard
        label="Expired"
        value={count(stats?.expired)}
        note="Past their expiry"
        icon={<Clock aria-hidden />}
        loading={loading}
      />
    </section>
  )
}

const count = (value: number | undefined) => value?.toLocaleString('en-US') ?? '—'
