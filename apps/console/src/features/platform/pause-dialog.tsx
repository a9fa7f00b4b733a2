import { useAppCount } from '../../lib/api/apps.ts'
import { useActiveEndUsers } from '../../lib/api/end-users.ts'
import { amountOf } from '../../lib/format/words.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useUpdatePlatformSettings } from './queries.ts'

/** Asks before every program of the vendor stops. */
export function PauseDialog({ onClose }: { onClose: () => void }) {
  const update = useUpdatePlatformSettings()
  const users = useActiveEndUsers(undefined)
  const apps = useAppCount()
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Pause all applications?"
      description="None of your programs lets anyone in until you resume them. Nothing is deleted, and no time is added."
      loss={
        users === undefined || apps === undefined
          ? 'Everyone is refused from the next call on.'
          : `${amountOf(users, 'end user')} in ${amountOf(apps, 'app')} ${users === 1 ? 'is' : 'are'} refused from the next call on.`
      }
      confirmLabel="Pause Applications"
      busy={update.isPending}
      onConfirm={() => update.mutate({ pauseApplications: true }, { onSuccess: onClose })}
    />
  )
}
