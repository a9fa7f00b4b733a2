import type { App } from '@keyward/contract'
import { useState } from 'react'
import { May } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyField } from '../../../ui/copy-button.tsx'
import { LateConfirmDialog } from '../../../ui/late-confirm-dialog.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { useRotateSecret } from '../queries.ts'
import { MoreSettings, OfflineSettings } from './more-settings.tsx'
import { SettingsForm } from './settings-form.tsx'

/** What an app checks and allows, and its secret. */
export function AppSettings({ app }: { app: App }) {
  return (
    <SettingsForm app={app} tab="settings" title="App Settings">
      {({ settings, onChange }) => (
        <>
          <Switch
            label="HWID Lock"
            description="The first sign-in binds the account to that device. Other devices are rejected."
            checked={settings.hwidLock}
            onChange={(hwidLock) => onChange({ hwidLock })}
          />
          <Switch
            label="Allow Custom License Keys"
            description="Lets you choose your own key when you generate a license."
            checked={settings.allowCustomLicenseKey}
            onChange={(allowCustomLicenseKey) => onChange({ allowCustomLicenseKey })}
          />
          <MoreSettings app={app} settings={settings} onChange={onChange} />
          <OfflineSettings settings={settings} onChange={onChange} />
          <hr />
          <div className="grid gap-4 sm:grid-cols-[12rem_minmax(0,1fr)]">
            <CopyField label="App ID" value={app.appId} />
            <CopyField label="App secret" value={app.appSecret} secret />
          </div>
          <May call={wire.apps.rotateSecret}>
            <RotateSecret app={app} />
          </May>
        </>
      )}
    </SettingsForm>
  )
}

function RotateSecret({ app }: { app: App }) {
  const [confirming, setConfirming] = useState(false)
  const rotate = useRotateSecret()
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p className="flex-1 basis-64 text-[0.8125rem] text-fg-muted">
        Replace the secret if it leaked. You must update programs that use the old one.
      </p>
      <Button variant="dangerGhost" onClick={() => setConfirming(true)}>
        Rotate Secret
      </Button>
      {confirming && (
        <LateConfirmDialog
          onClose={() => setConfirming(false)}
          title="Rotate the app secret?"
          description={`${app.name} gets a new secret.`}
          loss="The old secret stops working immediately. Programs that use it are signed out and cannot sign in until you ship them with the new secret."
          confirmLabel="Rotate Secret"
          busy={rotate.isPending}
          onConfirm={() => rotate.mutate(app._id, { onSuccess: () => setConfirming(false) })}
        />
      )}
    </div>
  )
}
