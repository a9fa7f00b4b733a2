import type { ListedClient } from '@keyward/contract'
import { Link } from 'react-router'
import { endUserName } from '../../lib/format/end-user-name.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { matchText } from '../../lib/list/match.ts'
import { userPath } from '../../lib/navigation/paths.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, Lines } from '../../ui/table-rows.tsx'
import { statusFacts } from './status.ts'

export const endUserColumns: Column<ListedClient>[] = [
  {
    id: 'user',
    header: 'User',
    sortable: 'names',
    phone: 'title',
    cell: (user) => (
      <div className="flex min-w-0 items-center gap-2.5">
        <span
          aria-hidden
          className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft font-semibold text-[0.8125rem] text-accent-text uppercase"
        >
          {[...endUserName(user)][0]}
        </span>
        <div className="min-w-0 md:min-w-28 md:max-w-44">
          <Lines note={userNote(matchText(user.match, 'username', 'email') ?? emailOf(user))}>
            <Link
              to={userPath(user._id)}
              data-row-open=""
              title={endUserName(user)}
              className="block min-w-0 truncate rounded-sm font-medium underline-offset-4 hover:underline"
            >
              <bdi>{endUserName(user)}</bdi>
            </Link>
          </Lines>
        </div>
      </div>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    phone: 'aside',
    cell: ({ status, paused }) => (
      <span className="flex flex-wrap gap-1">
        <StateBadge {...statusFacts[status]} />
        {paused && <Badge tone="warning">Paused</Badge>}
      </span>
    ),
  },
  {
    id: 'app',
    header: 'App',
    sortable: 'names',
    cell: ({ app }) => <CellText title={app.name}>{app.name}</CellText>,
  },
  {
    id: 'key',
    header: 'License key',
    phone: 'whole',
    cell: ({ licenseKey, testLicense, hwid }) => (
      <Lines
        note={
          <span className="block whitespace-nowrap max-md:hidden" title={hwid ?? undefined}>
            {hwid ? 'Locked to a device' : 'No device bound'}
          </span>
        }
      >
        {licenseKey ? (
          <div className="flex items-center gap-1 md:-my-2">
            <KeyText className="whitespace-nowrap">{keyPrefix(licenseKey)}</KeyText>
            <span className="max-md:hidden">
              <CopyButton
                text={licenseKey}
                label={`Copy license key ${keyPrefix(licenseKey)}`}
                message="License key copied to clipboard"
              />
            </span>
            {testLicense && <Badge>Test</Badge>}
          </div>
        ) : (
          <span className="text-fg-muted">None</span>
        )}
      </Lines>
    ),
  },
  {
    id: 'joined',
    header: 'Joined',
    sortable: 'dates',
    phone: 'third',
    cell: ({ createdAt }) => <DateText value={createdAt} />,
  },
  {
    id: 'expires',
    header: 'Expires',
    sortable: 'dates',
    phone: 'third',
    joint: '→',
    isEmpty: ({ expiresAt }) => expiresAt === null,
    cell: ({ expiresAt, inGrace }) => (
      <Lines note={inGrace && <span className="block whitespace-nowrap">In grace period</span>}>
        <DateText value={expiresAt} none="Never" />
      </Lines>
    ),
  },
]

/** The address, unless it is what the user is called by. */
const emailOf = (user: ListedClient) => (user.email === endUserName(user) ? null : user.email)

const userNote = (text: string | null) =>
  text && (
    <span className="block truncate" title={text}>
      {text}
    </span>
  )
