import { longestExtension } from '@keyward/contract'
import { useApp } from '../../lib/api/apps.ts'
import { useRequest } from '../../lib/form/use-request.ts'
import { endUserName } from '../../lib/format/end-user-name.ts'
import { oldProgramsWarning } from '../../lib/format/ending.ts'
import { type Extension, toExtension } from '../../lib/format/extension.ts'
import { TimeDialog } from '../../ui/time-dialog.tsx'
import type { EndUserDialogProps } from './confirm-dialogs.tsx'
import { useExtend } from './extension-queries.ts'

export function ExtensionDialog({ user, onClose }: EndUserDialogProps) {
  const extend = useExtend()
  const { app } = useApp(user.app._id)
  const send = useRequest((extension: Extension) => ({
    action: 'extend' as const,
    ids: [user._id],
    ...extension,
  }))
  return (
    <TimeDialog
      title={
        <>
          Extend <bdi>{endUserName(user)}</bdi>
        </>
      }
      ends={[user.expiresAt]}
      max={longestExtension}
      shorten={{
        label: 'Shorten the subscription',
        warning: 'The new expiry is earlier than the current one. This shortens the subscription.',
      }}
      neverWarning={oldProgramsWarning(app)}
      submitLabel="Extend"
      busy={extend.isPending || extend.isSuccess}
      onSubmit={(time) => {
        send(toExtension(time), (request) => extend.mutateAsync(request)).then(onClose, () => {})
      }}
      onClose={onClose}
    >
      {user.licenseKey && (
        <p className="text-[0.8125rem] text-fg-muted">The user's license gets the same expiry.</p>
      )}
    </TimeDialog>
  )
}
