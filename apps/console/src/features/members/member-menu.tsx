import type { Member } from '@keyward/contract'
import { Crown, MailPlus, Pencil, UserMinus } from 'lucide-react'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { type MemberDialogKind, useMemberDialog } from './member-dialogs.tsx'
import { nameOf } from './queries.ts'

export function MemberMenu({ member }: { member: Member }) {
  const dialog = useMemberDialog()
  const open = (kind: MemberDialogKind) => () => dialog.open(kind, member._id)
  return (
    <Menu label={`Actions for ${nameOf(member)}`}>
      <MenuItem icon={<Pencil />} onSelect={open('edit')}>
        Change Role and Apps
      </MenuItem>
      {member.invited && (
        <MenuItem icon={<MailPlus />} onSelect={open('invite-again')}>
          Invite Again
        </MenuItem>
      )}
      {!member.invited && dialog.may('make-owner') && (
        <MenuItem icon={<Crown />} onSelect={open('make-owner')}>
          Make Owner
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuItem icon={<UserMinus />} tone="danger" onSelect={open('remove')}>
        {member.invited ? 'Withdraw Invitation' : 'Remove'}
      </MenuItem>
    </Menu>
  )
}
