import type { Reseller } from '@keyward/contract'
import { Pause, Pencil, Play, ShieldOff, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { resellerPath } from '../../lib/navigation/paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Progress } from '../../ui/progress.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, textWidth } from '../../ui/table-rows.tsx'

export type ResellerAction = 'edit' | 'suspend' | 'resume' | 'reset-second-factor' | 'end-sessions' | 'delete'

export function resellerColumns(
  onAction: (action: ResellerAction, reseller: Reseller) => void,
): Column<Reseller>[] {
  return [
    {
      id: 'email',
      header: 'Reseller',
      phone: 'title',
      cell: ({ _id, email }) => (
        <span className={textWidth.name}>
          <Link
            to={resellerPath(_id)}
            data-row-open=""
            className="truncate rounded-sm font-medium underline-offset-4 hover:underline"
            title={email}
          >
            {email}
          </Link>
        </span>
      ),
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
        <Badge tone={active ? 'success' : 'warning'} dot>
          {active ? 'Active' : 'Suspended'}
        </Badge>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      align: 'end',
      always: true,
      phone: 'whole',
      joint: '',
      className: 'max-md:ml-auto md:whitespace-nowrap',
      cell: (reseller) => (
        <div className="flex justify-end gap-1 max-md:-mr-2 md:-mr-2 md:-ml-5">
          <May call={wire.resellers.update}>
            <Action name="Edit" of={reseller} icon={<Pencil />} onClick={() => onAction('edit', reseller)} />
            {reseller.active ? (
              <Action
                name="Suspend"
                of={reseller}
                icon={<Pause />}
                onClick={() => onAction('suspend', reseller)}
              />
            ) : (
              <Action
                name="Resume"
                of={reseller}
                icon={<Play />}
                onClick={() => onAction('resume', reseller)}
              />
            )}
          </May>
          <May call={wire.resellers.resetSecondFactor}>
            <Action
              name="Reset second factor of"
              of={reseller}
              icon={<ShieldOff />}
              onClick={() => onAction('reset-second-factor', reseller)}
            />
          </May>
          <May call={wire.resellers.remove}>
            <Action
              name="Delete"
              of={reseller}
              icon={<Trash2 />}
              danger
              onClick={() => onAction('delete', reseller)}
            />
          </May>
        </div>
      ),
    },
  ]
}

interface ActionProps {
  name: string
  of: Reseller
  icon: ReactNode
  danger?: boolean
  onClick: () => void
}

function Action({ name, of, icon, danger = false, onClick }: ActionProps) {
  return (
    <Button
      size="sm"
      variant="ghost"
      title={name}
      aria-label={`${name} ${of.email}`}
      onClick={onClick}
      className={`w-8 px-0 ${danger ? 'text-danger-text hover:bg-danger-soft hover:text-danger-text' : ''}`}
    >
      {icon}
    </Button>
  )
}
