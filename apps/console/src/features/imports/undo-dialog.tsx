import type { Import } from '@keyward/contract'
import { typedNumber } from '../../lib/list/typed-number.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useUndoImport } from './queries.ts'

export function UndoDialog({ of, onClose }: { of: Import; onClose: () => void }) {
  const undo = useUndoImport(of._id)
  return (
    <ConfirmDialog
      title="Undo the import?"
      description="It deletes the licenses and end users that the import created. Those that were used since stay, and the report lists them."
      typed={typedNumber(of.licenses + of.clients, 0)}
      confirmLabel="Undo Import"
      busy={undo.isPending}
      onConfirm={() => undo.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
