import { Navigate } from 'react-router'
import { useApp } from '../../lib/api/apps.ts'
import { wire } from '../../lib/api/wire.ts'
import { pathOfFormerDialog } from '../../lib/navigation/app-tabs.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useUrlState } from '../../lib/navigation/url-state.ts'
import { DialogSlot } from '../../ui/deferred.tsx'

const CreateAppDialog = lazyNamed(() => import('./create-app-dialog.tsx'), 'CreateAppDialog')
const CreatedAppDialog = lazyNamed(() => import('./created-app-dialog.tsx'), 'CreatedAppDialog')
const DeleteAppDialog = lazyNamed(() => import('./delete-app-dialog.tsx'), 'DeleteAppDialog')
const PauseAppDialog = lazyNamed(() => import('./pause-app-dialog.tsx'), 'PauseAppDialog')
const EditAppDialog = lazyNamed(() => import('./edit-app-dialog.tsx'), 'EditAppDialog')

const calls = {
  'new-app': [wire.apps.create],
  'created-app': [wire.apps.create],
  'edit-app': [wire.apps.update],
  'pause-app': [wire.apps.update],
  'delete-app': [wire.apps.remove],
}

export const useAppDialog = () => useCallDialog(calls)

/** The dialog named in the URL. */
export function AppDialogs(props: { canCreate: boolean }) {
  const former = pathOfFormerDialog(useUrlState('dialog', 'id', 'tab')[0])
  if (former) return <Navigate to={former} replace />
  return (
    <DialogSlot>
      <OpenDialog {...props} />
    </DialogSlot>
  )
}

function OpenDialog({ canCreate }: { canCreate: boolean }) {
  const { kind, id, open, close } = useAppDialog()
  const { app } = useApp(id)

  if (kind === 'new-app') {
    if (!canCreate) return null
    const onCreated = (created: { _id: string }) => open('created-app', created._id, { replace: true })
    return <CreateAppDialog onClose={close} onCreated={onCreated} />
  }
  if (!app) return null
  if (kind === 'created-app') return <CreatedAppDialog app={app} onClose={close} />
  if (kind === 'edit-app') return <EditAppDialog app={app} onClose={close} />
  if (kind === 'pause-app') return <PauseAppDialog app={app} onClose={close} />
  if (kind === 'delete-app') return <DeleteAppDialog app={app} onClose={close} />
  return null
}
