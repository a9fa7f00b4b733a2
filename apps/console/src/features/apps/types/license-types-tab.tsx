import type { App, LicenseType } from '@keyward/contract'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { May } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { useCallDialog } from '../../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../../lib/navigation/lazy.ts'
import { Button } from '../../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { Deferred } from '../../../ui/deferred.tsx'
import { LicenseTypesPanel } from './license-types-panel.tsx'
import { useLicenseTypes } from './license-types-queries.ts'

const LicenseTypeDialog = lazyNamed(() => import('./license-type-dialog.tsx'), 'LicenseTypeDialog')

/** The license types of an app, on its page. */
export function LicenseTypesTab({ app }: { app: App }) {
  const [edited, setEdited] = useState<LicenseType>()
  const dialog = useCallDialog({ 'new-type': [wire.licenseTypes.create] })
  const create = () => dialog.open('new-type')
  const types = useLicenseTypes(app._id)
  const close = () => {
    setEdited(undefined)
    if (dialog.kind) dialog.close()
  }
  return (
    <Card aria-label="License Types">
      <CardHeader
        title="License Types"
        description={`What you sell for ${app.name}. Choose a type when you generate licenses.`}
        actions={
          types.data?.length !== 0 && (
            <May call={wire.licenseTypes.create}>
              <Button size="sm" onClick={create}>
                <Plus />
                New Type
              </Button>
            </May>
          )
        }
      />
      <CardBody>
        <LicenseTypesPanel app={app} onEdit={(type) => (type ? setEdited(type) : create())} />
      </CardBody>
      {(edited || dialog.kind) && (
        <Deferred onFail={close}>
          <LicenseTypeDialog app={app} type={edited} onClose={close} />
        </Deferred>
      )}
    </Card>
  )
}
