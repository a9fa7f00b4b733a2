import type { Client } from '@keyward/contract'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { Badge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { statusFacts } from './status.ts'

const noteClass = 'block whitespace-nowrap text-[0.8125rem] text-fg-muted'

export const endUserColumns: Column<Client>[] = [
  {
    id: 'user',
    header: 'User',
    phone: 'title',
    cell: ({ username, email }) => (
      <div className="flex min-w-0 items-center gap-3">
        <span
          aria-hidden
          className="grid size-8 shrink-0 place-items-center rounded-full bg-accent-soft font-semibold text-accent-text uppercase"
        >
          {[...username][0]}
        </span>
        <span className="grid min-w-0 md:min-w-28 md:max-w-48">
          <span className="truncate font-medium" title={username}>
            <bdi>{username}</bdi>
          </span>
          {email && <span className="truncate text-[0.8125rem] text-fg-muted">{email}</span>}
        </span>
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
    cell: ({ app }) => (
      <span className="block truncate md:max-w-40" title={app.name}>
        {app.name}
      </span>
    ),
  },
  {
    id: 'key',
    header: 'License key',
    cell: ({ licenseKey, hwid }) => (
      <>
        {licenseKey ? (
          <div className="-my-1 flex items-center gap-1 max-md:justify-end">
            <code className="whitespace-nowrap font-mono text-[0.8125rem]">{keyPrefix(licenseKey)}</code>
            <CopyButton
              text={licenseKey}
              label={`Copy license key ${keyPrefix(licenseKey)}`}
              message="License key copied to clipboard"
            />
          </div>
        ) : (
          <span className="block text-fg-muted">None</span>
        )}
        <span className={noteClass} title={hwid ?? undefined}>
          {hwid ? 'Locked to a device' : 'No device bound'}
        </span>
      </>
    ),
  },
  {
    id: 'expires',
    header: 'Expires',
    cell: ({ createdAt, expiresAt, inGrace }) => (
      <>
        <DateText value={expiresAt} none="Never" className="block" />
        {inGrace && <span className={noteClass}>In grace period</span>}
        <span className={noteClass}>
          Joined <DateText value={createdAt} />
        </span>
      </>
    ),
  },
]
