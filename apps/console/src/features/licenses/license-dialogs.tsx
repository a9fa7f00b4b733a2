import type { License } from '@keyward/contract'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'
import { attaching } from './attaching.ts'

const BanLicenseDialog = lazyNamed(() => import('./ban-dialog.tsx'), 'BanLicenseDialog')
const DeleteLicenseDialog = lazyNamed(() => import('./delete-dialogs.tsx'), 'DeleteLicenseDialog')
const AttachDialog = lazyNamed(() => import('./attach-dialog.tsx'), 'AttachDialog')
const EditLicenseDialog = lazyNamed(() => import('./edit-license-dialog.tsx'), 'EditLicenseDialog')
const ChangeTypeDialog = lazyNamed(() => import('./edit-license-dialog.tsx'), 'ChangeTypeDialog')
const ExpiryDialog = lazyNamed(() => import('./expiry-dialog.tsx'), 'ExpiryDialog')

/** The dialogs about one license. */
export const licenseDialogs = {
  extend: [wire.licenses.update],
  'edit-expiry': [wire.licenses.update],
  'edit-license': [wire.licenses.update],
  'change-type': [wire.licenses.update],
  attach: attaching,
  ban: [{ call: wire.licenses.toggleBan, part: 'also' as const }],
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
      {(kind === 'extend' || kind === 'edit-expiry') && (
        <ExpiryDialog key={license._id} kind={kind} license={license} onClose={onClose} />
      )}
      {kind === 'edit-license' && <EditLicenseDialog key={license._id} license={license} onClose={onClose} />}
      {kind === 'change-type' && <ChangeTypeDialog key={license._id} license={license} onClose={onClose} />}
      {kind === 'attach' && <AttachDialog license={license} onClose={onClose} />}
      {kind === 'ban' && <BanLicenseDialog key={license._id} license={license} onClose={onClose} />}
      {kind === 'delete' && <DeleteLicenseDialog license={license} onClose={onClose} />}
    </DialogSlot>
  )
}
