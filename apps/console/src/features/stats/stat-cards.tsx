import { limits } from '@keyward/contract'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { Card } from '../../ui/card.tsx'
import { StatRow } from '../../ui/stat-row.tsx'
import { QueryError } from '../../ui/states.tsx'
import { useDashboardStats } from './queries.ts'

const figures = [
  {
    id: 'totalLicenses',
    label: 'Total Licenses',
    added: 'created',
    to: paths.licenses,
    list: wire.licenses.list,
  },
  {
    id: 'activeLicenses',
    label: 'Active Licenses',
    added: 'activated',
    to: listPath(paths.licenses, { status: 'active' }),
    list: wire.licenses.list,
  },
  {
    id: 'totalResellers',
    label: 'Resellers',
    added: 'added',
    to: paths.resellers,
    list: wire.resellers.list,
  },
  { id: 'totalClients', label: 'End Users', added: 'new', to: paths.users, list: wire.clients.list },
] as const

const count = (value: number | undefined) => formatNumber(value) ?? '—'

/** A change in words, before what it is compared with. */
function compared(change: number | undefined) {
  if (change === 0) return 'as many as'
  return change !== undefined && change < 0 ? `${count(-change)} fewer than` : `${count(change)} more than`
}

export function StatCards() {
  const stats = useDashboardStats()
  const may = useMay()
  if (stats.isError && !stats.data) {
    return (
      <Card>
        <QueryError query={stats} title="Failed to load the statistics" />
      </Card>
    )
  }
  return (
    <StatRow
      loading={!stats.data}
      stats={[
        ...figures.map(({ id, label, added, to, list }) => ({
          label,
          value: stats.data?.[id].value,
          note: `${count(stats.data?.[id].added)} ${added} in ${limits.activityDays} days, ${compared(stats.data?.[id].change)} in the ${limits.activityDays} before`,
          to: may(list) ? to : undefined,
        })),
        {
          label: 'Expiring Soon',
          value: stats.data?.expiringSoon.value,
          note: `active licenses, in the next ${limits.expiringSoonDays} days, ${compared(stats.data?.expiringSoon.change)} in the last ${limits.expiringSoonDays}`,
          to: may(wire.licenses.list) ? listPath(paths.licenses, { status: 'expiring' }) : undefined,
        },
      ]}
    />
  )
}
