import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useUndoImport } from './queries.ts'

export function UndoDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const undo = useUndoImport(id)
  return (
    <ConfirmDialog
      title="Undo the import?"
      description="It deletes the licenses and end users that the import created. Those that were used since stay, and the report lists them."
      confirmLabel="Undo Import"
      busy={undo.isPending}
      onConfirm={() => undo.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
