import { Ban, CircleCheck, Clock, Users } from 'lucide-react'
import { Badge } from '../../ui/badge.tsx'
import { StatCard } from '../../ui/card.tsx'

interface Stats {
  total: number
  active: number
  banned: number
  expired: number
}

export interface EndUserStatsProps {
  stats: Stats | undefined
  loading: boolean
  /** What is counted: an app's name, or all of them. */
  scope: string
}

export function EndUserStats({ stats, loading, scope }: EndUserStatsProps) {
  const percent = stats && stats.total > 0 ? Math.round((stats.active / stats.total) * 100) : 0
  return (
    <div className="grid grid-cols-2 gap-3 md:gap-4 lg:grid-cols-4">
      <StatCard label="Total" value={count(stats?.total)} note={scope} icon={<Users />} loading={loading} />
      <StatCard
        label="Active"
        value={count(stats?.active)}
        note={stats ? `${percent}% of total` : undefined}
        icon={<CircleCheck />}
        loading={loading}
      />
      <StatCard
        label="Banned"
        value={count(stats?.banned)}
        note="Refused at once"
        icon={<Ban />}
        loading={loading}
      />
      <StatCard
        label="Expired"
        value={count(stats?.expired)}
        note="Can be extended"
        icon={<Clock />}
        loading={loading}
      />
    </div>
  )
}

/** The counts in a line, for the head of the list. */
export function EndUserCounts({ stats }: { stats: Stats | undefined }) {
  if (!stats) return null
  return (
    <span className="mt-1 flex flex-wrap gap-1.5">
      <Badge tone="success">{count(stats.active)} active</Badge>
      <Badge tone="danger">{count(stats.banned)} banned</Badge>
      <Badge tone="warning">{count(stats.expired)} expired</Badge>
    </span>
  )
}

const count = (value: number | undefined) => value?.toLocaleString('en-US') ?? '—'
