import { limits } from '@keyward/contract'
import { Card, StatCard } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/states.tsx'
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
        <ErrorState
          title="Failed to load the statistics"
          description={stats.error.message}
          onRetry={() => stats.refetch()}
          retrying={stats.isFetching}
        />
      </Card>
    )
  }
  return (
    <section
      aria-label="Figures"
      className="grid grid-cols-2 gap-3 md:gap-4 max-lg:[&>:last-child]:col-span-2 lg:grid-cols-5"
    >
      {figures.map(({ id, label, added }) => (
        <StatCard
          key={id}
          label={label}
          loading={!stats.data}
          value={stats.data?.[id].value.toLocaleString()}
          note={`${stats.data?.[id].added.toLocaleString() ?? '—'} ${added} in ${limits.activityDays} days`}
        />
      ))}
      <StatCard
        label="Expiring Soon"
        loading={!stats.data}
        value={stats.data?.expiringSoon.value.toLocaleString()}
        note={`in the next ${limits.expiringSoonDays} days`}
      />
    </section>
  )
}
