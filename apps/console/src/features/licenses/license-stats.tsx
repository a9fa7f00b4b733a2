import { CircleCheck, CircleDashed, Clock, KeyRound } from 'lucide-react'
import { StatCard } from '../../ui/card.tsx'

export interface LicenseStatsProps {
  stats: { total: number; active: number; unused: number; expired: number } | undefined
  loading: boolean
  /** What is counted: an app's name, or all of them. */
  scope: string
}

export function LicenseStats({ stats, loading, scope }: LicenseStatsProps) {
  const percent = stats && stats.total > 0 ? Math.round((stats.active / stats.total) * 100) : 0
  return (
    <div className="grid grid-cols-2 gap-3 md:gap-4 lg:grid-cols-4">
      <StatCard
        label="Total"
        value={count(stats?.total)}
        note={scope}
        icon={<KeyRound />}
        loading={loading}
      />
      <StatCard
        label="Active"
        value={count(stats?.active)}
        note={stats ? `${percent}% of total` : undefined}
        icon={<CircleCheck />}
        loading={loading}
      />
      <StatCard
        label="Unused"
        value={count(stats?.unused)}
        note="Ready to hand out"
        icon={<CircleDashed />}
        loading={loading}
      />
      <StatCard
        label="Expired"
        value={count(stats?.expired)}
        note="Past their expiry"
        icon={<Clock />}
        loading={loading}
      />
    </div>
  )
}

const count = (value: number | undefined) => value?.toLocaleString('en-US') ?? '—'
