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
const ResetSecondFactorDialog = lazyNamed(confirmDialogs, 'ResetSecondFactorDialog')
const SuspendResellerDialog = lazyNamed(confirmDialogs, 'SuspendResellerDialog')
const CreateResellerDialog = lazyNamed(() => import('./create-reseller-dialog.tsx'), 'CreateResellerDialog')
const EditLimitDialog = lazyNamed(() => import('./edit-limit-dialog.tsx'), 'EditLimitDialog')

const calls = {
  create: [wire.resellers.create],
  edit: [wire.resellers.update],
  suspend: [wire.resellers.update],
  'reset-second-factor': [wire.resellers.resetSecondFactor],
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
      {kind === 'edit' && reseller && <EditLimitDialog key={id} reseller={reseller} onClose={close} />}
      {kind === 'suspend' && reseller?.active && (
        <SuspendResellerDialog reseller={reseller} onClose={close} />
      )}
      {kind === 'reset-second-factor' && reseller && (
        <ResetSecondFactorDialog reseller={reseller} onClose={close} />
      )}
      {kind === 'delete' && reseller && <DeleteResellerDialog reseller={reseller} onClose={close} />}
    </DialogSlot>
  )
}
