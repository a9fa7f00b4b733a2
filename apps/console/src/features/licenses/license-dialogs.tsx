import type { License } from '@keyward/contract'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'

const BulkLicensesDialog = lazyNamed(() => import('./bulk-dialogs.tsx'), 'BulkLicensesDialog')
const DeleteLicenseDialog = lazyNamed(() => import('./delete-dialogs.tsx'), 'DeleteLicenseDialog')
const EditLicenseDialog = lazyNamed(() => import('./edit-license-dialog.tsx'), 'EditLicenseDialog')
const EditExpiryDialog = lazyNamed(() => import('./edit-expiry-dialog.tsx'), 'EditExpiryDialog')

/** The dialogs about one license. */
export const licenseDialogs = {
  extend: [wire.bulk.licenses, wire.licenses.update],
  'edit-expiry': [wire.licenses.update],
  'edit-license': [wire.licenses.update],
  delete: [wire.licenses.remove],
}

/** The dialogs about the selected licenses. */
export const licenseBulkDialogs = {
  'bulk-extend': [wire.bulk.licenses],
  'bulk-ban': [wire.bulk.licenses],
  'bulk-unban': [wire.bulk.licenses],
  'bulk-delete': [{ call: wire.bulk.licenses, part: 'delete' as const }],
}

export interface LicenseDialogProps {
  kind: string | undefined
  license: License | undefined
  onClose: () => void
}

export function LicenseDialog({ kind, license, onClose }: LicenseDialogProps) {
  if (!license) return null
  return (
    <DialogSlot>
      {kind === 'extend' && (
        <BulkLicensesDialog action="extend" licenses={[license]} onSelect={() => {}} onClose={onClose} />
      )}
      {kind === 'edit-expiry' && <EditExpiryDialog key={license._id} license={license} onClose={onClose} />}
      {kind === 'edit-license' && <EditLicenseDialog key={license._id} license={license} onClose={onClose} />}
      {kind === 'delete' && <DeleteLicenseDialog license={license} onClose={onClose} />}
    </DialogSlot>
  )
}
