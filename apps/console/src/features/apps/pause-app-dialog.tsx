import type { App } from '@keyward/contract'
import { useActiveEndUsers } from '../../lib/api/end-users.ts'
import { amountOf } from '../../lib/format/words.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { usePause } from './queries.ts'

export function PauseAppDialog({ app, onClose }: { app: App; onClose: () => void }) {
  const pause = usePause()
  const users = useActiveEndUsers(app._id)
  return (
    <ConfirmDialog
      onClose={onClose}
      title={
        <>
          Pause <bdi>{app.name}</bdi>?
        </>
      }
      description="The program lets nobody in until you resume the app. Nothing is deleted, and no time is added."
      loss={
        users === undefined
          ? 'Everyone is refused from the next call on.'
          : `${amountOf(users, 'end user')} ${users === 1 ? 'is' : 'are'} refused from the next call on.`
      }
      confirmLabel="Pause App"
      busy={pause.isPending}
      onConfirm={() => pause.mutate(app._id, { onSuccess: onClose })}
    />
  )
}
