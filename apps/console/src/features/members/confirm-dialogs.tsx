import type { Member } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { nameOf, useMakeOwner, useRemoveMember } from './queries.ts'

export interface MemberConfirmProps {
  member: Member
  /** Name of the vendor account. */
  vendor: string
  onClose: () => void
}

export function RemoveMemberDialog({ member, vendor, onClose }: MemberConfirmProps) {
  const remove = useRemoveMember()
  const name = nameOf(member)
  return (
    <ConfirmDialog
      onClose={onClose}
      title={member.invited ? `Withdraw the invitation of ${name}?` : `Remove ${name}?`}
      description={
        member.invited
          ? 'You can invite the same address again.'
          : `The account of ${name} and its other teams stay. What it did stays in your records.`
      }
      loss={
        member.invited
          ? 'The link stops working at once.'
          : `${name} loses access to everything of ${vendor} at once, in open windows too.`
      }
      confirmLabel={member.invited ? 'Withdraw Invitation' : 'Remove'}
      busy={remove.isPending}
      onConfirm={() => remove.mutate(member, { onSuccess: onClose })}
    />
  )
}

export function MakeOwnerDialog({ member, vendor, onClose }: MemberConfirmProps) {
  const makeOwner = useMakeOwner()
  const name = nameOf(member)
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Make ${name} the owner of ${vendor}?`}
      description={`${name} gets all apps, licenses and end users, the plan and its payments. You become a manager, without billing and members.`}
      loss="All API keys are revoked and open invitations withdrawn at once. Only the new owner can hand the account back."
      typed={member.email}
      confirmLabel="Make Owner"
      busy={makeOwner.isPending}
      onConfirm={() => makeOwner.mutate(member, { onSuccess: onClose })}
    />
  )
}
