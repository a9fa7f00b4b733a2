import type { Import } from '@keyward/contract'
import { Link } from 'react-router'
import { formatNumber } from '../../lib/format/numbers.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { stateFacts, systems } from './words.ts'

export const importColumns: Column<Import>[] = [
  {
    id: 'system',
    header: 'From',
    phone: 'title',
    cell: ({ _id, preset }) => (
      <Link to={listPath(paths.imports, { import: _id })} className="font-medium hover:underline">
        {systems[preset].label}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => <StateBadge {...stateFacts[state]} />,
  },
  { id: 'app', header: 'App', cell: ({ app }) => app.name },
  {
    id: 'rows',
    header: 'Rows',
    align: 'end',
    cell: ({ rows }) => <span className="tabular-nums">{formatNumber(rows)}</span>,
  },
  { id: 'created', header: 'Started', cell: ({ createdAt }) => <DateText value={createdAt} /> },
]
