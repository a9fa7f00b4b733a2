import type { Client } from '@keyward/contract'
import { useState } from 'react'
import { endUserName, nameWithKey } from '../../lib/format/end-user-name.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { ReasonField } from '../../ui/note-field.tsx'
import { Switch } from '../../ui/switch.tsx'
import { OfflineNote } from './offline-note.tsx'
import { useDeleteEndUser, useResetHwid, useSetBan } from './queries.ts'

export interface EndUserDialogProps {
  user: Client
  onClose: () => void
}

export function BanDialog({ user, onClose }: EndUserDialogProps) {
  const setBan = useSetBan()
  const [reason, setReason] = useState('')
  const [blockDevices, setBlockDevices] = useState(false)
  const verb = user.ban ? 'Unban' : 'Ban'
  const details = user.ban ? {} : { reason, blockDevices }
  return (
    <ConfirmDialog
      onClose={onClose}
      title={
        <>
          {verb} <bdi>{nameWithKey(user)}</bdi>?
        </>
      }
      description={
        user.ban ? (
          <>
            <bdi>{endUserName(user)}</bdi> can use {user.app.name} again, as long as the subscription has not
            expired.
          </>
        ) : (
          <>
            {user.app.name} rejects <bdi>{endUserName(user)}</bdi> on the next call. You can lift the ban at
            any time.
          </>
        )
      }
      tone={user.ban ? 'neutral' : 'danger'}
      confirmLabel={`${verb} User`}
      busy={setBan.isPending}
      onConfirm={() => setBan.mutate({ user, ban: !user.ban, ...details }, { onSuccess: onClose })}
    >
      {user.ban ? (
        user.banReason && (
          <p className="wrap-anywhere text-fg-muted">
            Reason of the ban: <bdi>{user.banReason}</bdi>
          </p>
        )
      ) : (
        <>
          <ReasonField value={reason} onChange={setReason} />
          <OfflineNote users={[user]} />
          <Switch
            label="Block Devices and Address"
            description="New accounts on the same device or address are refused too. Lifting the ban keeps them blocked."
            checked={blockDevices}
            onChange={setBlockDevices}
          />
        </>
      )}
    </ConfirmDialog>
  )
}

export function ResetHwidDialog({ user, onClose }: EndUserDialogProps) {
  const reset = useResetHwid()
  return (
    <ConfirmDialog
      onClose={onClose}
      title={
        <>
          Reset HWID of <bdi>{nameWithKey(user)}</bdi>?
        </>
      }
      description={
        user.hwid
          ? 'This clears the hardware lock and allows login from a different device. The lock binds to the next device that signs in. An open session can run on until another device takes its place.'
          : 'No device is bound. A reset allows login from a different device, even while a freed device holds its place.'
      }
      tone="neutral"
      confirmLabel="Reset HWID"
      busy={reset.isPending}
      onConfirm={() => reset.mutate(user._id, { onSuccess: onClose })}
    >
      <OfflineNote users={[user]} />
    </ConfirmDialog>
  )
}

/** Resets the HWID, in the words of the list of devices. */
export function FreeAllDialog({ user, onClose }: EndUserDialogProps) {
  const reset = useResetHwid('Devices Freed')
  return (
    <ConfirmDialog
      onClose={onClose}
      title={
        <>
          Free all devices of <bdi>{nameWithKey(user)}</bdi>?
        </>
      }
      description="Other devices can take their places. These devices can sign in again as long as a place is free. An open session can run on until another device takes its place."
      tone="neutral"
      confirmLabel="Free All"
      busy={reset.isPending}
      onConfirm={() => reset.mutate(user._id, { onSuccess: onClose })}
    >
      <OfflineNote users={[user]} />
    </ConfirmDialog>
  )
}

export function DeleteEndUserDialog({ user, onClose }: EndUserDialogProps) {
  const remove = useDeleteEndUser()
  return (
    <ConfirmDialog
      onClose={onClose}
      title={
        <>
          Delete <bdi>{nameWithKey(user)}</bdi>?
        </>
      }
      description={`The account, its password and its hardware lock for ${user.app.name} are deleted. This action cannot be undone.`}
      loss={
        user.licenseKey
          ? 'The license key becomes free. Anyone who has it can register with it again until it expires.'
          : undefined
      }
      confirmLabel="Delete User"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(user, { onSuccess: onClose })}
    >
      <OfflineNote users={[user]} />
    </ConfirmDialog>
  )
}
