import type { App, Shop } from '@keyward/contract'
import { wire } from '../../lib/api/wire.ts'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'

const NewShopDialog = lazyNamed(() => import('./new-shop-dialog.tsx'), 'NewShopDialog')
const ConnectSteps = lazyNamed(() => import('./connect-steps.tsx'), 'ConnectSteps')
const edit = () => import('./edit-shop-dialogs.tsx')
const EditShopDialog = lazyNamed(edit, 'EditShopDialog')
const ReplaceSecretDialog = lazyNamed(edit, 'ReplaceSecretDialog')
const confirm = () => import('./confirm-dialogs.tsx')
const PauseShopDialog = lazyNamed(confirm, 'PauseShopDialog')
const DeleteShopDialog = lazyNamed(confirm, 'DeleteShopDialog')

const calls = {
  'new-shop': [wire.shops.create],
  'connect-shop': [wire.shops.test],
  'edit-shop': [wire.shops.update],
  'replace-secret': [{ call: wire.shops.update, part: 'also' as const }],
  'pause-shop': [wire.shops.update],
  'delete-shop': [wire.shops.remove],
}
export type ShopDialogKind = keyof typeof calls

export const useShopDialog = () => useCallDialog(calls)

/** The dialog named in the URL. */
export function ShopDialogs({ app, shops }: { app: App; shops: readonly Shop[] }) {
  const { kind, id, close } = useShopDialog()
  const shop = useChosen(shops, id)
  return (
    <DialogSlot>
      {kind === 'new-shop' && <NewShopDialog app={app} onClose={close} />}
      {kind === 'connect-shop' && shop && <ConnectSteps shop={shop} onClose={close} />}
      {kind === 'edit-shop' && shop && <EditShopDialog key={id} shop={shop} onClose={close} />}
      {kind === 'replace-secret' && shop && <ReplaceSecretDialog shop={shop} onClose={close} />}
      {kind === 'pause-shop' && shop?.active && <PauseShopDialog shop={shop} onClose={close} />}
      {kind === 'delete-shop' && shop && <DeleteShopDialog shop={shop} onClose={close} />}
    </DialogSlot>
  )
}
