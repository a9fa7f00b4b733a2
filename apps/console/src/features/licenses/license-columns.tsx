import type { License, LicenseStatus, ListedLicense } from '@keyward/contract'
import { UserRound } from 'lucide-react'
import { Link } from 'react-router'
import { noDateText } from '../../lib/format/ending.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { matchText } from '../../lib/list/match.ts'
import { licensePath, userPath } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, Lines, NoValue } from '../../ui/table-rows.tsx'
import { ResellerLink } from './reseller-link.tsx'
import { statusFacts } from './status.ts'

const hasNoUser = ({ usedBy: user }: License) => !user

export const licenseColumns: Column<ListedLicense>[] = [
  {
    id: 'key',
    header: 'License key',
    phone: 'title',
    cell: ({ _id, key, note, match }) => (
      <Lines note={keyNote(matchText(match, 'key', 'note', 'username') ?? note)}>
        <div className="flex items-center gap-1 md:-my-2">
          <Link
            to={licensePath(_id)}
            data-row-open=""
            className="rounded-sm underline-offset-4 hover:underline"
          >
            <KeyText className="whitespace-nowrap">{keyPrefix(key)}</KeyText>
          </Link>
          <CopyButton
            text={key}
            label={`Copy license key ${keyPrefix(key)}`}
            message="License key copied to clipboard"
          />
        </div>
      </Lines>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    phone: 'aside',
    cell: ({ status, test, used, usedBy: user }) => (
      <Lines
        note={[!user && !saysUse(status) && (used ? 'Used' : 'Unused'), test && 'Test']
          .filter(Boolean)
          .join(' · ')}
      >
        <StateBadge {...statusFacts[status]} />
      </Lines>
    ),
  },
  {
    id: 'app',
    header: 'App',
    sortable: 'names',
    cell: ({ app, reseller }) => (
      <Lines
        note={
          reseller && (
            <span className="max-md:hidden">
              <CellText title={reseller.email}>
                via <ResellerLink reseller={reseller} quiet />
              </CellText>
            </span>
          )
        }
      >
        <CellText title={app.name}>{app.name}</CellText>
      </Lines>
    ),
  },
  {
    id: 'type',
    header: 'Type',
    sortable: 'names',
    phone: 'hidden',
    isEmpty: ({ type }) => type === null,
    cell: ({ type }) =>
      type === null ? (
        <NoValue />
      ) : (
        <CellText width="short" title={type.name}>
          {type.name}
        </CellText>
      ),
  },
  { id: 'user', header: 'Used by', sortable: 'names', phone: 'third', isEmpty: hasNoUser, cell: usedBy },
  {
    id: 'created',
    header: 'Created',
    sortable: 'dates',
    phone: 'whole',
    cell: ({ createdAt }) => <DateText value={createdAt} />,
  },
  {
    id: 'expires',
    header: 'Expires',
    sortable: 'dates',
    phone: 'whole',
    joint: '→',
    isEmpty: (license) => license.expiresAt === null && noDateText(license) === 'Never',
    cell: (license) => (
      <Lines
        note={license.inGrace && <span className="whitespace-nowrap max-md:hidden">In grace period</span>}
      >
        <DateText value={license.expiresAt} none={noDateText(license)} />
      </Lines>
    ),
  },
]

const keyNote = (text: string | null) =>
  text && (
    <span className="block max-w-56 truncate md:max-w-44 xl:max-w-56" title={text}>
      {text}
    </span>
  )

/** Whether the status badge already says if the license is used. */
const saysUse = (status: LicenseStatus) => status === 'unused' || status === 'active'

function usedBy({ usedBy: user }: License) {
  if (!user) return <NoValue />
  const name = user.name ?? 'Unnamed'
  return (
    <CellText width="short" title={name}>
      <UserRound aria-hidden className="mr-1 inline size-3 md:hidden" />
      <span className="sr-only">Used by </span>
      <Link to={userPath(user._id)} className="rounded-sm font-medium underline-offset-4 hover:underline">
        <bdi>{name}</bdi>
      </Link>
    </CellText>
  )
}
