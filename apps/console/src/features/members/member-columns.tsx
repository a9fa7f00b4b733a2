import type { Member } from '@keyward/contract'
import { appsText } from '../../lib/format/apps.ts'
import { listed } from '../../lib/format/permissions.ts'
import { roleFacts } from '../../lib/format/roles.ts'
import { Badge } from '../../ui/badge.tsx'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, Lines, NoValue } from '../../ui/table-rows.tsx'
import { nameOf } from './queries.ts'

export const memberColumns = (apps: Parameters<typeof appsText>[1]): Column<Member>[] => [
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
        <CellText width="name" className="font-medium" title={member.email}>
          <bdi>{nameOf(member)}</bdi>
        </CellText>
      </Lines>
    ),
  },
  {
    id: 'role',
    header: 'Role',
    phone: 'aside',
    cell: ({ role, permissions }) => (
      <Badge>
        {permissions ? (
          <CellText title={listed(permissions)}>{`Custom: ${listed(permissions)}`}</CellText>
        ) : (
          roleFacts[role].label
        )}
      </Badge>
    ),
  },
  {
    id: 'apps',
    header: 'Apps',
    phone: 'whole',
    cell: ({ apps: ids }) => <CellText title={appsText(ids, apps)}>{appsText(ids, apps)}</CellText>,
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
    isEmpty: ({ invited }) => invited,
    cell: ({ lastUsedAt, invited }) =>
      invited ? <NoValue /> : <DateText value={lastUsedAt} none="Not used yet" />,
  },
]
