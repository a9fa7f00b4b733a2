import type { Client } from '@keyward/contract'
import type { ComponentType } from 'react'
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
export const endUserDialogs = [
  'ban',
  'reset-hwid',
  'extend',
  'variables',
  'delete',
] as const satisfies EndUserAction[]

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
