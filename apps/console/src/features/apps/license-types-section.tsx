import type { App, LicenseType } from '@keyward/contract'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { LicenseTypesPanel } from './license-types-panel.tsx'
import { useLicenseTypes } from './license-types-queries.ts'

const LicenseTypeDialog = lazyNamed(() => import('./license-type-dialog.tsx'), 'LicenseTypeDialog')

/** The license types of an app, as a part of its page. */
export function LicenseTypesSection({ app }: { app: App }) {
  const [edited, setEdited] = useState<{ type: LicenseType | undefined }>()
  const types = useLicenseTypes(app._id)
  const close = () => setEdited(undefined)
  return (
    <Card>
      <CardHeader
        title="License types"
        description="What you sell. Choose a type when you generate licenses."
        actions={
          types.data?.length !== 0 && (
            <May call={wire.licenseTypes.create}>
              <Button size="sm" onClick={() => setEdited({ type: undefined })}>
                <Plus />
                New Type
              </Button>
            </May>
          )
        }
      />
      <CardBody>
        <LicenseTypesPanel app={app} onEdit={(type) => setEdited({ type })} />
      </CardBody>
      {edited && (
        <Deferred onFail={close}>
          <LicenseTypeDialog app={app} type={edited.type} onClose={close} />
        </Deferred>
      )}
    </Card>
  )
}
