import { useState } from 'react'
import { useApp } from '../../lib/api/apps.ts'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'

const AppSettingsDialog = lazyNamed(() => import('./app-settings-dialog.tsx'), 'AppSettingsDialog')
const CreateAppDialog = lazyNamed(() => import('./create-app-dialog.tsx'), 'CreateAppDialog')
const DeleteAppDialog = lazyNamed(() => import('./delete-app-dialog.tsx'), 'DeleteAppDialog')
const EditAppDialog = lazyNamed(() => import('./edit-app-dialog.tsx'), 'EditAppDialog')
const IntegrationDialog = lazyNamed(() => import('./integration-dialog.tsx'), 'IntegrationDialog')

const AppVariablesDialog = lazyNamed(() => import('./variables-dialog.tsx'), 'AppVariablesDialog')
const ReleasesDialog = lazyNamed(() => import('./releases-dialog.tsx'), 'ReleasesDialog')
const SigningKeysDialog = lazyNamed(() => import('./signing-keys-dialog.tsx'), 'SigningKeysDialog')

const LicenseTypesDialog = lazyNamed(() => import('./license-types-dialog.tsx'), 'LicenseTypesDialog')
const BlocklistDialog = lazyNamed(() => import('./blocklist-dialog.tsx'), 'BlocklistDialog')

const calls = {
  'new-app': [wire.apps.create],
  'edit-app': [wire.apps.update],
  'app-settings': [wire.apps.update],
  'delete-app': [wire.apps.remove],
  integrate: [wire.apps.get],
  'signing-keys': [wire.signingKeys.list],
  'license-types': [wire.licenseTypes.list],
  variables: [wire.variables.app, wire.variables.setApp],
  releases: [wire.releases.list],
  blocking: [wire.blocklist.list, wire.blocklist.hashes],
}

export const useAppDialog = () => useCallDialog(calls)

/** The dialog named in the URL. */
export function AppDialogs(props: { canCreate: boolean }) {
  return (
    <DialogSlot>
      <OpenDialog {...props} />
    </DialogSlot>
  )
}

function OpenDialog({ canCreate }: { canCreate: boolean }) {
  const dialog = useAppDialog()
  const [freshId, setFreshId] = useState<string>()
  const { kind, id, open, close } = dialog
  const { app } = useApp(id)

  if (kind === 'new-app') {
    if (!canCreate) return null
    return (
      <CreateAppDialog
        onClose={close}
        onCreated={(app) => {
          setFreshId(app._id)
          open('integrate', app._id, { replace: true })
        }}
      />
    )
  }
  if (!app) return null
  if (kind === 'edit-app') return <EditAppDialog app={app} onClose={close} />
  if (kind === 'app-settings') return <AppSettingsDialog app={app} onClose={close} />
  if (kind === 'delete-app') return <DeleteAppDialog app={app} onClose={close} />
  if (kind === 'blocking') return <BlocklistDialog app={app} onClose={close} />
  if (kind === 'signing-keys') return <SigningKeysDialog app={app} onClose={close} />
  if (kind === 'license-types') return <LicenseTypesDialog app={app} onClose={close} />
  if (kind === 'variables') return <AppVariablesDialog app={app} onClose={close} />
  if (kind === 'releases') return <ReleasesDialog app={app} onClose={close} />
  if (kind === 'integrate')
    return (
      <IntegrationDialog
        app={app}
        fresh={app._id === freshId}
        onSigningKeys={() => open('signing-keys', app._id)}
        onClose={close}
      />
    )
  return null
}
