import { limits, type Member } from '@keyward/contract'
import { UserPlus, UsersRound } from 'lucide-react'
import { useMemo } from 'react'
import { memberColumns } from '../../features/members/member-columns.tsx'
import { MemberDialogs, useMemberDialog } from '../../features/members/member-dialogs.tsx'
import { MemberMenu } from '../../features/members/member-menu.tsx'
import { nameOf, useMembers } from '../../features/members/queries.ts'
import { useOwner } from '../../lib/api/account.ts'
import { useApps } from '../../lib/api/apps.ts'
import { amountOf } from '../../lib/format/words.ts'
import { tableState } from '../../lib/list/list-page.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'

/** How many people work here beside the owner, and how many are invited. */
function teamOf(members: readonly Member[]): string {
  const invited = members.filter((member) => member.invited).length
  const beside = `${amountOf(members.length - invited, 'member')} beside the owner`
  return invited === 0 ? beside : `${beside}, ${invited} invited`
}

/** The people who work on the vendor account beside its owner. */
export function MembersPage() {
  const vendor = useOwner().data?.vendor.name ?? ''
  const members = useMembers()
  const apps = useApps().data
  const dialog = useMemberDialog()
  const columns = useMemo(() => memberColumns(apps ?? []), [apps])
  const isFull = (members.data?.length ?? 0) >= limits.membersMax
  const inviteButton = dialog.may('invite') && (
    <Button
      variant="primary"
      disabled={isFull}
      title={isFull ? `A team has at most ${limits.membersMax} members` : undefined}
      onClick={() => dialog.open('invite')}
    >
      <UserPlus />
      Invite Member
    </Button>
  )
  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="Members"
        subtitle={`People who work for ${vendor}, each with a role and an account of their own.`}
        primary={inviteButton}
      />
      <Card className="overflow-clip">
        <CardHeader title="Team" description={members.data ? teamOf(members.data) : '\u00a0'} />
        <Table
          caption="Members, oldest first"
          columns={columns}
          rows={members.data}
          rowKey={({ _id }) => _id}
          rowLabel={nameOf}
          rowMenu={dialog.may('edit') ? (member) => <MemberMenu member={member} /> : undefined}
          {...tableState(members, 'Failed to load the members')}
          skeletonRows={3}
          empty={
            <EmptyState
              icon={<UsersRound />}
              title="No members yet"
              description="Invite colleagues who help your customers, run your apps or only look at the figures."
              actions={inviteButton}
            />
          }
        />
      </Card>
      <MemberDialogs members={members.data ?? []} vendor={vendor} />
    </div>
  )
}
