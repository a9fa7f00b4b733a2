import type { Member } from '@keyward/contract'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'

const invite = () => import('./invite-dialog.tsx')
const InviteDialog = lazyNamed(invite, 'InviteDialog')
const InviteAgainDialog = lazyNamed(invite, 'InviteAgainDialog')
const EditMemberDialog = lazyNamed(() => import('./edit-member-dialog.tsx'), 'EditMemberDialog')
const confirm = () => import('./confirm-dialogs.tsx')
const RemoveMemberDialog = lazyNamed(confirm, 'RemoveMemberDialog')
const MakeOwnerDialog = lazyNamed(confirm, 'MakeOwnerDialog')

const calls = {
  invite: [wire.members.invite],
  'invite-again': [wire.members.invite],
  edit: [wire.members.update],
  remove: [wire.members.remove],
  'make-owner': [wire.members.makeOwner],
}
export type MemberDialogKind = keyof typeof calls

export const useMemberDialog = () => useCallDialog(calls)

/** The dialog named in the URL. */
export function MemberDialogs({ members, vendor }: { members: Member[]; vendor: string }) {
  const { kind, id, close } = useMemberDialog()
  const member = members.find(({ _id }) => _id === id)
  return (
    <DialogSlot>
      {kind === 'invite' && <InviteDialog onClose={close} />}
      {kind === 'invite-again' && member?.invited && <InviteAgainDialog member={member} onClose={close} />}
      {kind === 'edit' && member && <EditMemberDialog key={id} member={member} onClose={close} />}
      {kind === 'remove' && member && <RemoveMemberDialog member={member} vendor={vendor} onClose={close} />}
      {kind === 'make-owner' && member && !member.invited && (
        <MakeOwnerDialog member={member} vendor={vendor} onClose={close} />
      )}
    </DialogSlot>
  )
}
