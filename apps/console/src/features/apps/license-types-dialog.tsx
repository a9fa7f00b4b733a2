import type { App, LicenseType } from '@keyward/contract'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { LicenseTypeForm } from './license-type-form.tsx'
import { LicenseTypesPanel } from './license-types-panel.tsx'
import { useLicenseTypes } from './license-types-queries.ts'

export interface LicenseTypesDialogProps {
  app: App
  onClose: () => void
}

/** The license types of an app: the list, or the form of one. */
export function LicenseTypesDialog({ app, onClose }: LicenseTypesDialogProps) {
  const [edited, setEdited] = useState<{ type: LicenseType | undefined }>()
  const types = useLicenseTypes(app._id)
  const back = () => setEdited(undefined)
  return (
    <Dialog
      onClose={edited ? back : onClose}
      size="lg"
      title={edited ? (edited.type ? `Edit ${edited.type.name}` : 'New License Type') : 'License Types'}
      description={
        edited ? app.name : `What you sell for ${app.name}. Choose a type when you generate licenses.`
      }
    >
      {edited ? (
        <LicenseTypeForm app={app} type={edited.type} onClose={back} />
      ) : (
        <>
          <DialogBody>
            <LicenseTypesPanel app={app} onEdit={(type) => setEdited({ type })} />
          </DialogBody>
          <DialogFooter>
            {types.data?.length !== 0 && (
              <May call={wire.licenseTypes.create}>
                <Button className="md:mr-auto" onClick={() => setEdited({ type: undefined })}>
                  <Plus />
                  New Type
                </Button>
              </May>
            )}
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </DialogFooter>
        </>
      )}
    </Dialog>
  )
}
