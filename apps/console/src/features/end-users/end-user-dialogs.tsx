import type { Client } from '@keyward/contract'
import type { ComponentType } from 'react'
import { wire } from '../../lib/api/wire.ts'
import type { DialogCalls } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'
import type { EndUserDialogProps } from './confirm-dialogs.tsx'
import type { EndUserAction } from './end-user-menu.tsx'

const confirmDialogs = () => import('./confirm-dialogs.tsx')
const dialogs: Record<EndUserAction, ComponentType<EndUserDialogProps>> = {
  ban: lazyNamed(confirmDialogs, 'BanDialog'),
  'reset-hwid': lazyNamed(confirmDialogs, 'ResetHwidDialog'),
  extend: lazyNamed(() => import('./extend-dialog.tsx'), 'ExtendDialog'),
  variables: lazyNamed(() => import('./variables-dialog.tsx'), 'EndUserVariablesDialog'),
  delete: lazyNamed(confirmDialogs, 'DeleteEndUserDialog'),
}

/** The dialogs about one end user. */
export const endUserDialogs = {
  ban: [wire.clients.toggleBan],
  'reset-hwid': [wire.clients.resetHwid],
  extend: [wire.clients.extend],
  variables: [wire.variables.client, wire.variables.setClient],
  delete: [wire.clients.remove],
} satisfies DialogCalls<EndUserAction>

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
  const Dialog = kind !== undefined && kind in dialogs ? dialogs[kind as EndUserAction] : undefined
  if (!Dialog || !user) return null
  return (
    <DialogSlot>
      <Dialog key={user._id} user={user} onClose={onClose} />
    </DialogSlot>
  )
}
