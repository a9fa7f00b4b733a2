import { KeyRound, Scale, Store } from 'lucide-react'
import { paths } from '../../lib/navigation/paths.ts'
import { StatRow } from '../../ui/stat-row.tsx'
import type { ResellerSummary } from './summary.ts'

export interface ResellerStatsProps {
  summary: ResellerSummary | undefined
  loading: boolean
}

export function ResellerStats({ summary, loading }: ResellerStatsProps) {
  return (
    <StatRow
      label="Summary"
      loading={loading}
      stats={[
        {
          label: 'Total Resellers',
          value: summary?.total,
          note: 'In your network',
          icon: <Store />,
          to: paths.resellers,
        },
        { label: 'Licenses Created', value: summary?.licenses, note: 'By all resellers', icon: <KeyRound /> },
        { label: 'Average', value: summary?.average, note: 'Licenses per reseller', icon: <Scale /> },
      ]}
    />
  )
}
