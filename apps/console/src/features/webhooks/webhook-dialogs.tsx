import type { Webhook } from '@keyward/contract'
import { useState } from 'react'
import { wire } from '../../lib/api/wire.ts'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'
import type { ShownSecret } from './queries.ts'

const WebhookDialog = lazyNamed(() => import('./webhook-dialog.tsx'), 'WebhookDialog')
const SecretDialog = lazyNamed(() => import('./secret-dialog.tsx'), 'SecretDialog')
const confirm = () => import('./confirm-dialogs.tsx')
const PauseWebhookDialog = lazyNamed(confirm, 'PauseWebhookDialog')
const RotateSecretDialog = lazyNamed(confirm, 'RotateSecretDialog')
const DeleteWebhookDialog = lazyNamed(confirm, 'DeleteWebhookDialog')

const calls = {
  create: [wire.webhooks.create],
  edit: [wire.webhooks.update],
  pause: [wire.webhooks.update],
  rotate: [wire.webhooks.rotateSecret],
  delete: [wire.webhooks.delete],
}
export type WebhookDialogKind = keyof typeof calls

export const useWebhookDialog = () => useCallDialog(calls)

/** The dialog named in the URL. */
export function WebhookDialogs({ webhooks }: { webhooks: readonly Webhook[] }) {
  const { kind, id, close } = useWebhookDialog()
  const webhook = useChosen(webhooks, id)
  // The browser's Back must not take away a secret that cannot be shown again.
  const [secret, setSecret] = useState<ShownSecret>()
  const closeSecret = () => {
    setSecret(undefined)
    close()
  }
  return (
    <DialogSlot>
      {(kind === 'create' || kind === 'rotate' || secret) && (
        <SecretDialog shown={secret} onRestore={setSecret} onClose={closeSecret} />
      )}
      {kind === 'create' && !secret && <WebhookDialog onSecret={setSecret} onClose={close} />}
      {kind === 'edit' && webhook && <WebhookDialog key={id} webhook={webhook} onClose={close} />}
      {kind === 'pause' && webhook?.active && <PauseWebhookDialog webhook={webhook} onClose={close} />}
      {kind === 'rotate' && webhook?.format === 'standard' && !secret && (
        <RotateSecretDialog webhook={webhook} onSecret={setSecret} onClose={close} />
      )}
      {kind === 'delete' && webhook && <DeleteWebhookDialog webhook={webhook} onClose={close} />}
    </DialogSlot>
  )
}
