import type { App } from '@keyward/contract'
import { Dialog, DialogBody, DoneFooter } from '../../ui/dialog.tsx'
import { Integration } from './integration/integration.tsx'
import { IntegrationLinks } from './integration/integration-links.tsx'

/** The last step of creating an app: what its program needs. */
export function CreatedAppDialog({ app, onClose }: { app: App; onClose: () => void }) {
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={`${app.name} is ready`}
      description="Paste this into your program, so that it runs only with a valid license."
    >
      <DialogBody>
        <Integration app={app} />
      </DialogBody>
      <DoneFooter onDone={onClose}>
        <IntegrationLinks className="md:first:mr-auto" />
      </DoneFooter>
    </Dialog>
  )
}
