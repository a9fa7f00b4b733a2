import type { ClientStatus } from '@keyward/contract'
import { Ban, CircleCheck, Clock, Users } from 'lucide-react'
import { formatNumber } from '../../lib/format/numbers.ts'
import { percentOf } from '../../lib/format/percent.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
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
  /** The counted app; undefined for all. */
  app: { _id: string; name: string } | undefined
}

export function EndUserStats({ stats, loading, app }: EndUserStatsProps) {
  const listOf = (status?: ClientStatus) => listPath(paths.users, { app: app?._id, status })
  const active = stats ? `${percentOf(stats.active, stats.total)}% of total` : 'Of total'
  return (
    <StatRow
      loading={loading}
      stats={[
        {
          label: 'Total',
          value: stats?.total,
          note: app?.name ?? 'In all apps',
          icon: <Users />,
          to: listOf(),
        },
        { label: 'Active', value: stats?.active, note: active, icon: <CircleCheck />, to: listOf('active') },
        {
          label: 'Banned',
          value: stats?.banned,
          note: 'Cannot sign in',
          icon: <Ban />,
          to: listOf('banned'),
        },
        {
          label: 'Expired',
          value: stats?.expired,
          note: 'Can be extended',
          icon: <Clock />,
          to: listOf('expired'),
        },
      ]}
    />
  )
}

const plain = 'max-md:h-auto max-md:border-0 max-md:bg-transparent max-md:px-0'

/** The counts in one line, for the header of the list. */
export function EndUserCounts({ stats }: { stats: Stats | undefined }) {
  const count = (value: number | undefined) => formatNumber(value) ?? '—'
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
