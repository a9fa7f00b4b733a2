import { CircleCheck, CircleDashed, Clock, KeyRound } from 'lucide-react'
import { percentOf } from '../../lib/format/percent.ts'
import { StatRow } from '../../ui/stat-row.tsx'

export interface LicenseStatsProps {
  stats: { total: number; active: number; unused: number; expired: number } | undefined
  loading: boolean
  /** The app's name, or 'In all apps'. */
  scope: string
}

export function LicenseStats({ stats, loading, scope }: LicenseStatsProps) {
  const active = stats ? `${percentOf(stats.active, stats.total)}% of total` : 'Of total'
  return (
    <StatRow
      loading={loading}
      stats={[
        { label: 'Total', value: stats?.total, note: scope, icon: <KeyRound /> },
        { label: 'Active', value: stats?.active, note: active, icon: <CircleCheck /> },
        { label: 'Unused', value: stats?.unused, note: 'Not registered yet', icon: <CircleDashed /> },
        { label: 'Expired', value: stats?.expired, note: 'Past their expiry', icon: <Clock /> },
      ]}
    />
  )
}
