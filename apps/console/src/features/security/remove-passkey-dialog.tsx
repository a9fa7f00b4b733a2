import type { Passkey } from '@keyward/contract'
import type { Holder } from '../../lib/api/holders.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useRemovePasskey } from './queries.ts'

export interface RemovePasskeyDialogProps {
  holder: Holder
  passkey: Passkey
  /** Whether the account keeps another second factor. */
  keepsFactor: boolean
  onClose: () => void
}

export function RemovePasskeyDialog({ holder, passkey, keepsFactor, onClose }: RemovePasskeyDialogProps) {
  const remove = useRemovePasskey(holder)
  return (
    <ConfirmDialog
      title="Remove Passkey"
      description={
        <>
          <strong className="wrap-anywhere font-semibold text-fg">{passkey.name}</strong> no longer signs you
          in. You can delete it on your device as well.
        </>
      }
      loss={
        keepsFactor
          ? undefined
          : 'It is your only second factor. Your recovery codes no longer work, and your password alone signs you in.'
      }
      confirmLabel="Remove"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(passkey._id, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
