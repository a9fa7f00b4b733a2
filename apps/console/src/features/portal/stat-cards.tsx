import type { PortalStats } from '@keyward/contract'
import { CalendarCheck, CircleCheck, CircleDashed, Clock, KeyRound } from 'lucide-react'
import { formatNumber } from '../../lib/format/numbers.ts'
import { percentOf } from '../../lib/format/percent.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { StatRow } from '../../ui/stat-row.tsx'

export interface PortalStatsProps {
  stats: PortalStats | undefined
  loading: boolean
}

const generated = (stats: PortalStats | undefined) => ({
  label: 'Total Generated',
  value: stats?.total,
  note: stats ? `${formatNumber(stats.remaining)} remaining` : 'Remaining',
  icon: <KeyRound />,
  to: paths.resellerLicenses,
})

/** The statistics on the dashboard. */
export function PortalSummary({ stats, loading }: PortalStatsProps) {
  return (
    <StatRow
      label="Figures"
      loading={loading}
      stats={[
        generated(stats),
        {
          label: 'Active Licenses',
          value: stats?.active,
          note: stats ? `${percentOf(stats.active, stats.total)}% of total` : 'Of total',
          icon: <CalendarCheck />,
        },
        {
          label: 'Used Licenses',
          value: stats?.used,
          note: stats ? `${percentOf(stats.used, stats.total)}% usage rate` : 'Usage rate',
          icon: <CircleCheck />,
        },
      ]}
    />
  )
}

/** The statistics above the list of licenses. */
export function PortalLicenseStats({ stats, loading }: PortalStatsProps) {
  return (
    <StatRow
      label="Figures"
      loading={loading}
      stats={[
        generated(stats),
        {
          label: 'Available',
          value: stats?.available,
          note: 'Ready to sell',
          icon: <CircleDashed />,
        },
        { label: 'Used', value: stats?.used, note: 'Activated by a customer', icon: <CircleCheck /> },
        { label: 'Expired', value: stats?.expired, note: 'Past their expiry', icon: <Clock /> },
      ]}
    />
  )
}
