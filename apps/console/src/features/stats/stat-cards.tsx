import { limits } from '@keyward/contract'
import { Card } from '../../ui/card.tsx'
import { StatRow } from '../../ui/stat-row.tsx'
import { QueryError } from '../../ui/states.tsx'
import { useDashboardStats } from './queries.ts'

const figures = [
  { id: 'totalLicenses', label: 'Total Licenses', added: 'created' },
  { id: 'activeLicenses', label: 'Active Licenses', added: 'activated' },
  { id: 'totalResellers', label: 'Resellers', added: 'added' },
  { id: 'totalClients', label: 'End Users', added: 'new' },
] as const

export function StatCards() {
  const stats = useDashboardStats()
  if (stats.isError && !stats.data) {
    return (
      <Card>
        <QueryError query={stats} title="Failed to load the statistics" />
      </Card>
    )
  }
  const count = (value: number | undefined) => value?.toLocaleString() ?? '—'
  return (
    <StatRow
      loading={!stats.data}
      stats={[
        ...figures.map(({ id, label, added }) => ({
          label,
          value: stats.data?.[id].value,
          note: `${count(stats.data?.[id].added)} ${added} in ${limits.activityDays} days`,
        })),
        {
          label: 'Expiring Soon',
          value: stats.data?.expiringSoon.value,
          note: `in the next ${limits.expiringSoonDays} days`,
        },
      ]}
    />
  )
}
