import type { App, Reseller } from '@keyward/contract'
import { useState } from 'react'
import { wire } from '../../lib/api/wire.ts'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'
import type { CreatedReseller } from './create-reseller-dialog.tsx'

const confirmDialogs = () => import('./confirm-dialogs.tsx')
const DeleteResellerDialog = lazyNamed(confirmDialogs, 'DeleteResellerDialog')
const EndSessionsDialog = lazyNamed(confirmDialogs, 'EndSessionsDialog')
const ResetSecondFactorDialog = lazyNamed(confirmDialogs, 'ResetSecondFactorDialog')
const SuspendResellerDialog = lazyNamed(confirmDialogs, 'SuspendResellerDialog')
const CreateResellerDialog = lazyNamed(() => import('./create-reseller-dialog.tsx'), 'CreateResellerDialog')
const EditLimitDialog = lazyNamed(() => import('./edit-limit-dialog.tsx'), 'EditLimitDialog')

const calls = {
  create: [wire.resellers.create],
  edit: [wire.resellers.update],
  suspend: [wire.resellers.update],
  'reset-second-factor': [wire.resellers.resetSecondFactor],
  'end-sessions': [wire.resellers.endSessions],
  delete: [wire.resellers.remove],
}

export const useResellerDialog = () => useCallDialog(calls)

export interface ResellerDialogsProps {
  /** Whether the owner's plan includes resellers. */
  available: boolean
  apps: App[]
  appId: string | undefined
  resellers: Reseller[]
}

/** The dialog named in the URL. */
export function ResellerDialogs({ available, apps, appId, resellers }: ResellerDialogsProps) {
  const { kind, id, close } = useResellerDialog()
  const reseller = useChosen(resellers, id)
  // The browser's Back must not take away a password that cannot be shown again.
  const [created, setCreated] = useState<CreatedReseller>()
  return (
    <DialogSlot>
      {(kind === 'create' || created) && (
        <CreateResellerDialog
          available={available}
          apps={apps}
          appId={appId}
          created={created}
          onCreated={setCreated}
          onClose={() => {
            setCreated(undefined)
            close()
          }}
        />
      )}
      <ResellerDialog kind={kind} reseller={reseller} onClose={close} />
    </DialogSlot>
  )
}

export interface ResellerDialogProps {
  kind: string | undefined
  reseller: Reseller | undefined
  onClose: () => void
}

/** The dialogs about one reseller. */
export function ResellerDialog({ kind, reseller, onClose }: ResellerDialogProps) {
  if (!reseller) return null
  return (
    <DialogSlot>
      {kind === 'edit' && <EditLimitDialog key={reseller._id} reseller={reseller} onClose={onClose} />}
      {kind === 'suspend' && reseller.active && (
        <SuspendResellerDialog reseller={reseller} onClose={onClose} />
      )}
      {kind === 'reset-second-factor' && <ResetSecondFactorDialog reseller={reseller} onClose={onClose} />}
      {kind === 'end-sessions' && <EndSessionsDialog reseller={reseller} onClose={onClose} />}
      {kind === 'delete' && <DeleteResellerDialog reseller={reseller} onClose={onClose} />}
    </DialogSlot>
  )
}
