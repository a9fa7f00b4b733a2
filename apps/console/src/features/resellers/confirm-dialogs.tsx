import type { Reseller } from '@keyward/contract'
import { formatNumber } from '../../lib/format/numbers.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useDeleteReseller, useEndResellerSessions, useResetSecondFactor, useSetActive } from './queries.ts'

export interface ResellerDialogProps {
  reseller: Reseller
  onClose: () => void
}

export function SuspendResellerDialog({ reseller, onClose }: ResellerDialogProps) {
  const setActive = useSetActive()
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Suspend Reseller"
      description={
        <>
          <strong className="break-all font-semibold text-fg">{reseller.email}</strong> is signed out
          immediately and cannot sign in or generate licenses until you resume the account.
        </>
      }
      loss="The reseller's licenses and their end users stay valid."
      tone="neutral"
      confirmLabel="Suspend"
      busy={setActive.isPending}
      onConfirm={() => setActive.mutate({ id: reseller._id, active: false }, { onSuccess: onClose })}
    />
  )
}

export function EndSessionsDialog({ reseller, onClose }: ResellerDialogProps) {
  const end = useEndResellerSessions()
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Sign Out Everywhere"
      description={
        <>
          <strong className="break-all font-semibold text-fg">{reseller.email}</strong> is signed out on every
          device and can sign in again.
        </>
      }
      loss="To keep the reseller out, suspend the account instead."
      tone="neutral"
      confirmLabel="Sign Out"
      busy={end.isPending}
      onConfirm={() => end.mutate(reseller._id, { onSuccess: onClose })}
    />
  )
}

export function ResetSecondFactorDialog({ reseller, onClose }: ResellerDialogProps) {
  const reset = useResetSecondFactor()
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Reset Second Factor"
      description={
        <>
          For a reseller who has lost phone, passkeys and recovery codes. First make sure that the request
          comes from <strong className="break-all font-semibold text-fg">{reseller.email}</strong>.
        </>
      }
      loss="The password alone then signs the reseller in. The reseller is signed out everywhere."
      tone="neutral"
      confirmLabel="Reset"
      busy={reset.isPending}
      onConfirm={() => reset.mutate(reseller._id, { onSuccess: onClose })}
    />
  )
}

export function DeleteResellerDialog({ reseller, onClose }: ResellerDialogProps) {
  const remove = useDeleteReseller()
  const licenses = reseller.created_licenses
  function confirm() {
    if (!reseller._id || !reseller.email) toast.error('Invalid reseller data')
    else remove.mutate(reseller._id, { onSuccess: onClose })
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete Reseller"
      description={
        <>
          The account <strong className="break-all font-semibold text-fg">{reseller.email}</strong> is deleted
          and signed out immediately. This action cannot be undone.
        </>
      }
      loss={
        licenses === 0
          ? 'The reseller loses access to the portal.'
          : 'The reseller loses access to the portal. A new account starts without these licenses.'
      }
      typed={reseller.email}
      confirmLabel="Delete Reseller"
      busy={remove.isPending}
      onConfirm={confirm}
    >
      <p className="text-fg-muted">
        {licenses === 0
          ? 'The reseller has no licenses.'
          : `You keep the reseller's ${licenses === 1 ? 'license' : `${formatNumber(licenses)} licenses`} and their end users.`}
      </p>
    </ConfirmDialog>
  )
}
