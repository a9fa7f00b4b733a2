import type { Client } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useDeleteEndUser, useResetHwid, useSetBan } from './queries.ts'

export interface EndUserDialogProps {
  user: Client
  onClose: () => void
}

export function BanDialog({ user, onClose }: EndUserDialogProps) {
  const setBan = useSetBan()
  const verb = user.ban ? 'Unban' : 'Ban'
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`${verb} ${user.username}?`}
      description={
        user.ban
          ? `${user.username} can use ${user.app.name} again, as long as the subscription has not expired.`
          : `The very next call of ${user.app.name} by ${user.username} is refused. You can lift the ban at any time.`
      }
      tone={user.ban ? 'neutral' : 'danger'}
      confirmLabel={`${verb} User`}
      busy={setBan.isPending}
      onConfirm={() => setBan.mutate({ user, ban: !user.ban }, { onSuccess: onClose })}
    />
  )
}

export function ResetHwidDialog({ user, onClose }: EndUserDialogProps) {
  const reset = useResetHwid()
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Reset HWID of ${user.username}?`}
      description={
        user.hwid
          ? 'This clears the hardware lock and allows login from a different device. The next device that signs in is the one that the lock binds to. Whoever is signed in now has to sign in again.'
          : 'No device is bound at present. A reset allows login from a different device and ends the sessions that are open now.'
      }
      tone="neutral"
      confirmLabel="Reset HWID"
      busy={reset.isPending}
      onConfirm={() => reset.mutate(user._id, { onSuccess: onClose })}
    />
  )
}

export function DeleteEndUserDialog({ user, onClose }: EndUserDialogProps) {
  const remove = useDeleteEndUser()
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${user.username}?`}
      description={`The account, its password and its hardware lock for ${user.app.name} are deleted. This action cannot be undone.`}
      loss={
        user.licenseKey
          ? 'The license key becomes free: whoever has it can register with it again, until it expires.'
          : undefined
      }
      confirmLabel="Delete User"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(user, { onSuccess: onClose })}
    />
  )
}
