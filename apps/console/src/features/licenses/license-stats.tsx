import type { LicenseStatus } from '@keyward/contract'
import { CircleCheck, CircleDashed, Clock, KeyRound } from 'lucide-react'
import { percentOf } from '../../lib/format/percent.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { StatRow } from '../../ui/stat-row.tsx'

export interface LicenseStatsProps {
  stats: { total: number; active: number; unused: number; expired: number } | undefined
  loading: boolean
  /** The counted app; undefined for all. */
  app: { _id: string; name: string } | undefined
}

export function LicenseStats({ stats, loading, app }: LicenseStatsProps) {
  const listOf = (status?: LicenseStatus) => listPath(paths.licenses, { app: app?._id, status })
  const active = stats ? `${percentOf(stats.active, stats.total)}% of total` : 'Of total'
  return (
    <StatRow
      loading={loading}
      stats={[
        {
          label: 'Total',
          value: stats?.total,
          note: app?.name ?? 'In all apps',
          icon: <KeyRound />,
          to: listOf(),
        },
        { label: 'Active', value: stats?.active, note: active, icon: <CircleCheck />, to: listOf('active') },
        {
          label: 'Unused',
          value: stats?.unused,
          note: 'Not registered yet',
          icon: <CircleDashed />,
          to: listOf('unused'),
        },
        {
          label: 'Expired',
          value: stats?.expired,
          note: 'Past their expiry',
          icon: <Clock />,
          to: listOf('expired'),
        },
      ]}
    />
  )
}
