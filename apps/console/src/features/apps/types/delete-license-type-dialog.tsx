import type { LicenseType } from '@keyward/contract'
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx'
import { useDeleteLicenseType } from './license-types-queries.ts'

export function DeleteLicenseTypeDialog({ type, onClose }: { type: LicenseType; onClose: () => void }) {
  const remove = useDeleteLicenseType()
  return (
    <ConfirmDialog
      title={`Delete the type ${type.name}?`}
      description="Licenses that were generated from it stay as they were sold. No more can be generated from it."
      confirmLabel="Delete Type"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(type._id, { onSuccess: onClose })}
      onClose={onClose}
    />
  )
}
