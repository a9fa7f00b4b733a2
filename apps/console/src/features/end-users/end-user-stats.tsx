import { Ban, CircleCheck, Clock, Users } from 'lucide-react'
import { percentOf } from '../../lib/format/percent.ts'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { StatRow } from '../../ui/stat-row.tsx'

interface Stats {
  total: number
  active: number
  banned: number
  expired: number
}

export interface EndUserStatsProps {
  stats: Stats | undefined
  loading: boolean
  /** The app's name, or 'In all apps'. */
  scope: string
}

export function EndUserStats({ stats, loading, scope }: EndUserStatsProps) {
  const active = stats ? `${percentOf(stats.active, stats.total)}% of total` : 'Of total'
  return (
    <StatRow
      loading={loading}
      stats={[
        { label: 'Total', value: stats?.total, note: scope, icon: <Users /> },
        { label: 'Active', value: stats?.active, note: active, icon: <CircleCheck /> },
        { label: 'Banned', value: stats?.banned, note: 'Cannot sign in', icon: <Ban /> },
        { label: 'Expired', value: stats?.expired, note: 'Can be extended', icon: <Clock /> },
      ]}
    />
  )
}

const plain = 'max-md:h-auto max-md:border-0 max-md:bg-transparent max-md:px-0'

/** The counts in one line, for the header of the list. */
export function EndUserCounts({ stats }: { stats: Stats | undefined }) {
  const count = (value: number | undefined) => value?.toLocaleString() ?? '—'
  return (
    <span className={cx('flex flex-wrap gap-x-2 md:mt-1 md:gap-1.5', !stats && 'invisible')}>
      <Badge tone="success" className={plain}>
        {count(stats?.active)} active
      </Badge>
      <Badge tone="danger" className={plain}>
        {count(stats?.banned)} banned
      </Badge>
      <Badge tone="warning" className={plain}>
        {count(stats?.expired)} expired
      </Badge>
    </span>
  )
}
