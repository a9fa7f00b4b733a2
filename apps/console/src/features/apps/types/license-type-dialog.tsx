import { Dialog } from '../../../ui/dialog.tsx'
import { LicenseTypeForm, type LicenseTypeFormProps } from './license-type-form.tsx'

/** The form of a new or an existing license type. */
export function LicenseTypeDialog({ app, type, onClose }: LicenseTypeFormProps) {
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={type ? `Edit ${type.name}` : 'New License Type'}
      description={app.name}
    >
      <LicenseTypeForm app={app} type={type} onClose={onClose} />
    </Dialog>
  )
}
