import type { Client } from '@keyward/contract'
import type { ComponentType } from 'react'
import { wire } from '../../lib/api/wire.ts'
import type { DialogCalls } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'
import type { EndUserDialogProps } from './confirm-dialogs.tsx'
import { addingLicense, type EndUserAction } from './end-user-menu.tsx'

const confirmDialogs = () => import('./confirm-dialogs.tsx')
const repairDialogs = () => import('./repair-dialogs.tsx')
type Kind = EndUserAction | 'free-all'

const dialogs: Record<Kind, ComponentType<EndUserDialogProps>> = {
  ban: lazyNamed(confirmDialogs, 'BanDialog'),
  'reset-hwid': lazyNamed(confirmDialogs, 'ResetHwidDialog'),
  'free-all': lazyNamed(confirmDialogs, 'FreeAllDialog'),
  extend: lazyNamed(() => import('./extension-dialog.tsx'), 'ExtensionDialog'),
  'edit-expiry': lazyNamed(repairDialogs, 'EndUserExpiryDialog'),
  'edit-user': lazyNamed(repairDialogs, 'EditEndUserDialog'),
  'set-password': lazyNamed(repairDialogs, 'SetPasswordDialog'),
  'mail-password': lazyNamed(() => import('./mail-password-dialog.tsx'), 'MailPasswordDialog'),
  'add-license': lazyNamed(repairDialogs, 'AddLicenseDialog'),
  variables: lazyNamed(() => import('./variables-dialog.tsx'), 'EndUserVariablesDialog'),
  delete: lazyNamed(confirmDialogs, 'DeleteEndUserDialog'),
}

/** The dialogs about one end user. */
export const endUserDialogs = {
  ban: [wire.clients.toggleBan],
  'reset-hwid': [wire.clients.resetHwid],
  'free-all': [wire.clients.resetHwid],
  extend: [wire.bulk.clients],
  'edit-expiry': [wire.clients.update],
  'edit-user': [wire.clients.update],
  'set-password': [wire.clients.setPassword],
  'mail-password': [wire.clients.setPassword],
  'add-license': addingLicense,
  variables: [wire.variables.client, wire.variables.setClient],
  delete: [wire.clients.remove],
} satisfies DialogCalls<Kind>

/** The dialogs about the selected end users. */
export const endUserBulkDialogs = {
  'bulk-extend': [wire.bulk.clients],
  'bulk-ban': [wire.bulk.clients],
  'bulk-unban': [wire.bulk.clients],
  'bulk-reset-hwid': [wire.bulk.clients],
  'bulk-delete': [{ call: wire.bulk.clients, part: 'delete' as const }],
}

export interface EndUserDialogOptions {
  kind: string | undefined
  user: Client | undefined
  onClose: () => void
}

export function EndUserDialog({ kind, user, onClose }: EndUserDialogOptions) {
  const Dialog = kind !== undefined && kind in dialogs ? dialogs[kind as Kind] : undefined
  if (!Dialog || !user) return null
  return (
    <DialogSlot>
      <Dialog key={user._id} user={user} onClose={onClose} />
    </DialogSlot>
  )
}
