import type { App } from '@keyward/contract'
import { ArrowUpRight } from 'lucide-react'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Integration } from './integration.tsx'

export interface IntegrationDialogProps {
  app: App
  /** The app was created just now. */
  fresh: boolean
  onSigningKeys: () => void
  onClose: () => void
}

export function IntegrationDialog({ app, fresh, onSigningKeys, onClose }: IntegrationDialogProps) {
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={fresh ? `${app.name} is ready` : `Integrate ${app.name}`}
      description="Paste this into your program, so that it runs only with a valid license."
    >
      <DialogBody>
        <Integration app={app} onSigningKeys={onSigningKeys} />
      </DialogBody>
      <DialogFooter>
        <Button asChild variant="ghost" className="md:mr-auto">
          <a href={paths.docs} target="_blank" rel="noreferrer">
            API docs
            <ArrowUpRight />
            <span className="sr-only">(opens in a new tab)</span>
          </a>
        </Button>
        <Button asChild variant="ghost">
          <a href={paths.sdks} target="_blank" rel="noreferrer">
            All SDKs
            <ArrowUpRight />
            <span className="sr-only">(opens in a new tab)</span>
          </a>
        </Button>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </DialogFooter>
    </Dialog>
  )
}
