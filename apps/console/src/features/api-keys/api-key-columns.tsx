import type { ApiKey } from '@keyward/contract'
import { appsText } from '../../lib/format/apps.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, Lines } from '../../ui/table-rows.tsx'
import { describe } from './permission-words.ts'

export interface ApiKeyColumnsOptions {
  apps: readonly { _id: string; name: string }[]
  onRevoke: (key: ApiKey) => void
}

export function apiKeyColumns({ apps, onRevoke }: ApiKeyColumnsOptions): Column<ApiKey>[] {
  return [
    {
      id: 'name',
      header: 'Key',
      phone: 'title',
      cell: ({ name, hint }) => (
        <Lines note={<code className="font-mono">{`kwa_…${hint}`}</code>}>
          <CellText className="font-medium" title={name}>
            {name}
          </CellText>
        </Lines>
      ),
    },
    {
      id: 'permissions',
      header: 'Permissions',
      cell: ({ permissions }) => <Short text={describe(permissions)} />,
    },
    {
      id: 'apps',
      header: 'Apps',
      cell: (key) => <Short text={appsText(key.apps, apps)} />,
    },
    {
      id: 'networks',
      header: 'Networks',
      cell: ({ networks }) => <Short text={networks.length > 0 ? networks.join(', ') : 'Everywhere'} />,
    },
    {
      id: 'used',
      header: 'Last used',
      phone: 'third',
      cell: ({ lastUsedAt, lastAddress }) => (
        <Lines note={lastAddress && <span className="break-all">{lastAddress}</span>}>
          <span>
            {lastUsedAt !== null && <span className="md:hidden">Last used </span>}
            <DateText value={lastUsedAt} none="Not used yet" />
          </span>
        </Lines>
      ),
    },
    {
      id: 'expires',
      header: 'Expires',
      phone: 'aside',
      cell: ({ expiresAt }) =>
        expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? (
          <Badge tone="danger">Expired</Badge>
        ) : (
          <DateText value={expiresAt} none="Never expires" className="max-md:text-xs" />
        ),
    },
    {
      id: 'created',
      header: 'Created',
      phone: 'hidden',
      cell: ({ createdAt }) => <DateText value={createdAt} />,
    },
    {
      id: 'actions',
      header: 'Actions',
      align: 'end',
      always: true,
      phone: 'third',
      joint: '',
      className: 'max-md:ml-auto md:whitespace-nowrap',
      cell: (key) => (
        <Button
          size="sm"
          variant="dangerGhost"
          aria-label={`Revoke ${key.name}`}
          onClick={() => onRevoke(key)}
        >
          Revoke
        </Button>
      ),
    },
  ]
}

function Short({ text }: { text: string }) {
  return <CellText title={text}>{text}</CellText>
}
