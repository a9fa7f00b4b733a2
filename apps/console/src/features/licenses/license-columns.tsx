import type { License } from '@keyward/contract'
import { Link } from 'react-router'
import { noDateText } from '../../lib/format/ending.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { statusFacts } from './status.ts'

const noteClass = 'block truncate text-[0.8125rem] text-fg-muted'

export const licenseColumns: Column<License>[] = [
  {
    id: 'key',
    header: 'License key',
    phone: 'title',
    cell: (license) => (
      <div className="min-w-0">
        <div className="-my-1 flex items-center gap-1">
          <code className="whitespace-nowrap font-mono text-[0.8125rem]">{keyPrefix(license.key)}</code>
          <CopyButton
            text={license.key}
            label={`Copy license key ${keyPrefix(license.key)}`}
            message="License key copied to clipboard"
          />
        </div>
        {license.note && (
          <span className={`${noteClass} max-w-56 md:max-w-44 xl:max-w-56`} title={license.note}>
            {license.note}
          </span>
        )}
      </div>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    cell: ({ status }) => (
      <Badge tone={statusFacts[status].tone} dot>
        {statusFacts[status].label}
      </Badge>
    ),
  },
  {
    id: 'app',
    header: 'App',
    cell: (license) => (
      <div className="min-w-0 md:max-w-40">
        <span className="block truncate" title={license.app.name}>
          {license.app.name}
        </span>
        {license.reseller && (
          <span className={noteClass} title={license.reseller.email}>
            via {license.reseller.email}
          </span>
        )}
      </div>
    ),
  },
  {
    id: 'use',
    header: 'Use',
    cell: (license) =>
      license.usedBy ? (
        <span className="block min-w-0 truncate md:max-w-40">
          Used by{' '}
          <Link
            to={`${paths.users}?${new URLSearchParams({ search: license.usedBy.username })}`}
            className="rounded-sm font-medium underline-offset-4 hover:underline"
          >
            <bdi>{license.usedBy.username}</bdi>
          </Link>
        </span>
      ) : (
        <span className="text-fg-muted">{license.used ? 'Used' : 'Unused'}</span>
      ),
  },
  {
    id: 'expires',
    header: 'Expires',
    cell: (license) => (
      <>
        <DateText value={license.expiresAt} none={noDateText(license)} className="block" />
        {license.inGrace && <span className={noteClass}>In grace period</span>}
        <span className="block whitespace-nowrap text-[0.8125rem] text-fg-muted">
          Created <DateText value={license.createdAt} />
        </span>
      </>
    ),
  },
]
