import { formatNumber } from '../../lib/format/numbers.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useDeletePortalLicenses } from './queries.ts'

export interface DeleteAllDialogProps {
  total: number
  used: number
  onClose: () => void
}

export function DeleteAllDialog({ total, used, onClose }: DeleteAllDialogProps) {
  const remove = useDeletePortalLicenses()
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete All Licenses"
      description={`${total === 1 ? 'The only license' : `All ${formatNumber(total)} licenses`} that you generated will be deleted. This action cannot be undone.`}
      loss={
        used > 0
          ? `${used === 1 ? 'One of them is' : `${formatNumber(used)} of them are`} in use. Their users can no longer sign in.`
          : 'Customers can no longer use these keys.'
      }
      typed="delete all"
      confirmLabel="Delete All"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
    />
  )
}
