import type { PortalLicense } from '@keyward/contract'
import { noDateText } from '../../lib/format/ending.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, NoValue } from '../../ui/table-rows.tsx'
import { badgeOf } from './status.ts'

export const portalLicenseColumns: Column<PortalLicense>[] = [
  {
    id: 'key',
    header: 'License key',
    phone: 'title',
    cell: ({ key }) => (
      <div className="flex items-center gap-1">
        <KeyText className="whitespace-nowrap">{keyPrefix(key)}</KeyText>
        <CopyButton
          text={key}
          label={`Copy license key ${keyPrefix(key)}`}
          message="License key copied to clipboard"
        />
      </div>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    phone: 'aside',
    cell: (license) => {
      const { label, tone } = badgeOf(license)
      return (
        <div className="flex flex-wrap gap-1 max-md:justify-end">
          <StateBadge tone={license.banned ? 'neutral' : tone} label={label} />
          {license.banned && <Badge tone="danger">Banned</Badge>}
        </div>
      )
    },
  },
  {
    id: 'app',
    header: 'App',
    cell: ({ app }) => <CellText title={app.name}>{app.name}</CellText>,
  },
  {
    id: 'used-by',
    header: 'Used by',
    cell: ({ usedBy }) => (usedBy ? <CellText title={usedBy}>{usedBy}</CellText> : <NoValue />),
  },
  {
    id: 'created',
    header: 'Created',
    phone: 'whole',
    cell: ({ createdAt }) => <DateText value={createdAt} />,
  },
  {
    id: 'expires',
    header: 'Expires',
    phone: 'whole',
    joint: '→',
    cell: (license) => <DateText value={license.expiresAt} none={noDateText(license)} />,
  },
]
