import type { App } from '@keyward/contract'
import { useState } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useDraft } from '../../lib/form/drafts.ts'
import { useUnsaved } from '../../lib/form/unsaved.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardFooter, CardHeader } from '../../ui/card.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { Switch } from '../../ui/switch.tsx'
import { MoreSettings, OfflineSettings } from './more-settings.tsx'
import { useRotateSecret, useUpdateApp } from './queries.ts'

type Settings = App['settings']

/** What an app checks and allows, and its secret. */
export function AppSettings({ app }: { app: App }) {
  // Cancel shows the settings as they are now: someone else may have changed them.
  const [edition, setEdition] = useState(0)
  return (
    <Card aria-label="App Settings">
      <CardHeader title="App Settings" />
      <SettingsForm key={edition} app={app} onCancel={() => setEdition(edition + 1)} />
    </Card>
  )
}

function SettingsForm({ app, onCancel }: { app: App; onCancel: () => void }) {
  const [opened, setOpened] = useState(app.settings)
  const [settings, setSettings] = useState(opened)
  useDraft({ opened, read: () => settings, restore: setSettings })
  const unsaved = JSON.stringify(settings) !== JSON.stringify(opened)
  useUnsaved(unsaved)
  const update = useUpdateApp({
    done: 'App settings updated successfully',
    failed: 'Failed to update app settings',
  })
  const show = (saved: App) => {
    setOpened(saved.settings)
    setSettings(saved.settings)
  }
  return (
    <>
      <CardBody className="grid max-w-2xl gap-5">
        <Switch
          label="HWID Lock"
          description="The first sign-in binds the account to that device. Other devices are rejected."
          checked={settings.hwidLock}
          onChange={(hwidLock) => setSettings({ ...settings, hwidLock })}
        />
        <Switch
          label="Allow Custom License Keys"
          description="Lets you choose your own key when you generate a license."
          checked={settings.allowCustomLicenseKey}
          onChange={(allowCustomLicenseKey) => setSettings({ ...settings, allowCustomLicenseKey })}
        />
        <MoreSettings
          app={app}
          settings={settings}
          onChange={(change) => setSettings({ ...settings, ...change })}
        />
        <OfflineSettings settings={settings} onChange={(change) => setSettings({ ...settings, ...change })} />
        <hr />
        <div className="grid gap-4 sm:grid-cols-[12rem_minmax(0,1fr)]">
          <CopyField label="App ID" value={app.appId} />
          <CopyField label="App secret" value={app.appSecret} secret />
        </div>
        <May call={wire.apps.rotateSecret}>
          <RotateSecret app={app} />
        </May>
      </CardBody>
      <CardFooter>
        <Button onClick={onCancel} disabled={update.isPending || !unsaved}>
          Cancel
        </Button>
        <Button
          variant="primary"
          loading={update.isPending}
          disabled={!unsaved}
          onClick={() => update.mutate({ id: app._id, ...toSent(settings, opened) }, { onSuccess: show })}
        >
          Save Settings
        </Button>
      </CardFooter>
    </>
  )
}

/** The settings that were changed, and what they were: others may have changed the rest. Without the empty lines of a text field. */
function toSent(settings: Settings, opened: Settings) {
  const sent = { ...settings, vpnAllowed: settings.vpnAllowed.map((line) => line.trim()).filter(Boolean) }
  const changed = (Object.keys(sent) as (keyof Settings)[]).filter(
    (name) => JSON.stringify(sent[name]) !== JSON.stringify(opened[name]),
  )
  const pick = (from: Settings): Partial<Settings> =>
    Object.fromEntries(changed.map((name) => [name, from[name]]))
  return { settings: pick(sent), seen: { settings: pick(opened) } }
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
        <ConfirmDialog
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
