import type { Reseller } from '@keyward/contract'
import { formatNumber } from '../../lib/format/numbers.ts'
import { resellerPath } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { DateText } from '../../ui/date.tsx'
import { Progress } from '../../ui/progress.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, RowLink } from '../../ui/table-rows.tsx'

export const resellerColumns: Column<Reseller>[] = [
  {
    id: 'email',
    header: 'Reseller',
    phone: 'title',
    cell: ({ _id, email }) => <RowLink to={resellerPath(_id)} title={email} />,
  },
  {
    id: 'app',
    header: 'App',
    cell: ({ app_id: app }) => <CellText title={app.name}>{app.name}</CellText>,
  },
  {
    id: 'joined',
    header: 'Joined',
    phone: 'whole',
    cell: (reseller) => <DateText value={reseller.createdAt} />,
  },
  {
    id: 'usage',
    header: 'Usage',
    phone: 'whole',
    cell: ({ email, created_licenses: used, allowed_license_keys: allowed }) => (
      <div className="grid gap-1 max-md:relative md:w-24 max-md:[&>:last-child]:absolute max-md:[&>:last-child]:inset-x-0 max-md:[&>:last-child]:-bottom-1.5">
        <span className="tabular-nums md:leading-4">
          {formatNumber(used)}/{formatNumber(allowed)}
        </span>
        <Progress value={used} max={allowed} label={`Licenses used by ${email}`} />
      </div>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    phone: 'aside',
    cell: ({ active }) => (
      <StateBadge tone={active ? 'success' : 'warning'} label={active ? 'Active' : 'Suspended'} />
    ),
  },
]
