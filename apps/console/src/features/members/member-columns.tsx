import type { Member } from '@keyward/contract'
import { roleFacts } from '../../lib/format/roles.ts'
import { Badge } from '../../ui/badge.tsx'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { Lines, NoValue } from '../../ui/table-rows.tsx'
import { nameOf } from './queries.ts'

interface AppName {
  _id: string
  name: string
}

/** The names of a few apps, or their number. */
function appsText(ids: readonly string[] | null, apps: readonly AppName[]): string {
  if (ids === null) return 'All apps'
  const names = ids.flatMap((id) => apps.find(({ _id }) => _id === id)?.name ?? [])
  return ids.length <= 2 && names.length === ids.length ? names.join(', ') : `${ids.length} apps`
}

export const memberColumns = (apps: readonly AppName[]): Column<Member>[] => [
  {
    id: 'member',
    header: 'Member',
    phone: 'title',
    cell: (member) => (
      <Lines
        note={
          <span className="block truncate">
            {member.invited ? 'Invited, not accepted yet' : member.email}
          </span>
        }
      >
        <span className="block truncate font-medium md:max-w-64" title={member.email}>
          <bdi>{nameOf(member)}</bdi>
        </span>
      </Lines>
    ),
  },
  {
    id: 'role',
    header: 'Role',
    phone: 'aside',
    cell: ({ role }) => <Badge>{roleFacts[role].label}</Badge>,
  },
  {
    id: 'apps',
    header: 'Apps',
    phone: 'whole',
    cell: ({ apps: ids }) => (
      <span className="block truncate md:max-w-44" title={appsText(ids, apps)}>
        {appsText(ids, apps)}
      </span>
    ),
  },
  {
    id: 'second-factor',
    header: 'Second factor',
    phone: 'hidden',
    cell: ({ secondFactor, invited }) =>
      invited ? (
        <NoValue />
      ) : (
        <Badge tone={secondFactor ? 'success' : 'neutral'}>{secondFactor ? 'On' : 'Off'}</Badge>
      ),
  },
  {
    id: 'last-used',
    header: 'Last used',
    phone: 'whole',
    cell: ({ lastUsedAt }) => <DateText value={lastUsedAt} none="Never" />,
  },
]
