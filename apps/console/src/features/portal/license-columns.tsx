import type { PortalLicense } from '@keyward/contract'
import { noDateText } from '../../lib/format/ending.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { useDialogParam } from '../../lib/navigation/url-state.ts'
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
    cell: ({ _id, key }) => (
      <div className="flex items-center gap-1">
        <OpenKey id={_id} licenseKey={key} />
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
    cell: (license) => <StatusBadges license={license} />,
  },
  {
    id: 'note',
    header: 'Note',
    phone: 'third',
    isEmpty: ({ note }) => note === null,
    cell: ({ note }) => (note === null ? <NoValue /> : <CellText title={note}>{note}</CellText>),
  },
  {
    id: 'app',
    header: 'App',
    cell: ({ app }) => <CellText title={app.name}>{app.name}</CellText>,
  },
  {
    id: 'used-by',
    header: 'Used by',
    phone: 'third',
    isEmpty: ({ usedBy }) => usedBy === null,
    cell: ({ usedBy, key }) => {
      const name = usedBy === key ? 'Unnamed' : usedBy
      return name ? <CellText title={name}>{name}</CellText> : <NoValue />
    },
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

export function StatusBadges({ license }: { license: PortalLicense }) {
  const { label, tone } = badgeOf(license)
  return (
    <div className="inline-flex flex-wrap gap-1 max-md:justify-end">
      <StateBadge tone={license.banned ? 'neutral' : tone} label={label} />
      {license.banned && <Badge tone="danger">Banned</Badge>}
    </div>
  )
}

const dialogs = ['license'] as const

function OpenKey({ id, licenseKey }: { id: string; licenseKey: string }) {
  const { open } = useDialogParam(dialogs)
  return (
    <button
      type="button"
      onClick={() => open('license', id)}
      className="rounded-sm underline-offset-4 hover:underline"
    >
      <KeyText className="whitespace-nowrap">{keyPrefix(licenseKey)}</KeyText>
    </button>
  )
}
