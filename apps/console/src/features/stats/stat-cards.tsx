import { Card, StatCard } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { useDashboardStats } from './queries.ts'

const figures = [
  { id: 'totalLicenses', label: 'Total Licenses' },
  { id: 'activeLicenses', label: 'Active Licenses' },
  { id: 'totalResellers', label: 'Resellers' },
  { id: 'totalClients', label: 'End Users' },
  { id: 'expiringSoon', label: 'Expiring Soon' },
] as const

export function StatCards() {
  const stats = useDashboardStats()
  if (stats.isError && !stats.data) {
    return (
      <Card>
        <ErrorState
          title="The figures could not be loaded"
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
      {figures.map(({ id, label }) => (
        <StatCard
          key={id}
          label={label}
          loading={!stats.data}
          value={stats.data?.[id].value.toLocaleString('en-US')}
          change={stats.data?.[id].change ?? 0}
          changeNote="in 30 days"
        />
      ))}
    </section>
  )
}
