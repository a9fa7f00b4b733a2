import type { LazyMove } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { withEnd } from './lazy-move-form.ts'
import { useUpdateLazyMove } from './queries.ts'

interface EndMoveDialogProps {
  appId: string
  saved: LazyMove
  onClose: () => void
}

export function EndMoveDialog({ appId, saved, onClose }: EndMoveDialogProps) {
  const update = useUpdateLazyMove(appId, 'Move ended')
  const body = withEnd(saved, null)
  return (
    <ConfirmDialog
      title="End the move?"
      description="The old provider is not asked any more. Customers who have moved stay. Those who have not are refused, until you import them or set up the move again."
      confirmLabel="End Move"
      busy={update.isPending}
      onConfirm={() => (body ? update.mutate(body, { onSuccess: onClose }) : onClose())}
      onClose={onClose}
    />
  )
}
