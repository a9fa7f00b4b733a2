import type { User, Vendor } from '@keyward/contract'
import { useState } from 'react'
import { fieldMessage, hasCode } from '../../lib/api/call.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { useDeleteAccount, useLeaveVendor } from './queries.ts'

export function LeaveDialog({ vendor, onClose }: { vendor: Vendor; onClose: () => void }) {
  const leave = useLeaveVendor()
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Leave ${vendor.name}?`}
      description="Your account and your other teams stay. What you did stays in the records of this team."
      loss={`You lose access to everything of ${vendor.name} at once. Only a new invitation brings you back.${
        vendor.current ? ' You are logged out, and can log in again to your other accounts.' : ''
      }`}
      confirmLabel="Leave"
      busy={leave.isPending}
      onConfirm={() => leave.mutate(vendor, { onSuccess: onClose })}
    />
  )
}

interface DeleteAccountDialogProps {
  user: User
  vendors: readonly Vendor[]
  onClose: () => void
}

export function DeleteAccountDialog({ user, vendors, onClose }: DeleteAccountDialogProps) {
  const remove = useDeleteAccount()
  const [password, setPassword] = useState('')
  const teams = vendors.filter(({ role }) => role !== 'owner').map(({ name }) => name)
  const ownsApps = (user.role === 'owner' && user.appCount > 0) || hasCode(remove.error, 'account_owns_apps')
  if (ownsApps) return <AppsFirst onClose={onClose} />
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete your account?"
      description={`${user.email} can no longer sign in. You are logged out on every device.`}
      loss={`This cannot be undone.${
        teams.length > 0 ? ` You leave ${teams.join(', ')}.` : ''
      } A plan that you paid for ends with the account.`}
      field={
        <PasswordField
          error={fieldMessage(remove.error, 'password')}
          value={password}
          onChange={setPassword}
        />
      }
      complete={password !== ''}
      confirmLabel="Delete Account"
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ password })}
    />
  )
}

function AppsFirst({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="You still own apps">
      <DialogBody>
        <p className="text-fg-muted">
          Programs depend on them, so an account with apps is not deleted. Delete your apps first, or make a
          member the owner of your account.
        </p>
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>Close</Button>
        <Button asChild variant="primary" className="max-md:h-11">
          <a href={paths.members}>Show Members</a>
        </Button>
      </DialogFooter>
    </Dialog>
  )
}
