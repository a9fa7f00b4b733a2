import type { App } from '@keyward/contract'
import { Suspense, useState } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useDraft } from '../../lib/form/drafts.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useUrlState } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Switch } from '../../ui/switch.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ErrorMessagesSkeleton } from './error-messages-skeleton.tsx'
import { MoreSettings, OfflineSettings } from './more-settings.tsx'
import { useRotateSecret, useUpdateApp } from './queries.ts'

type Settings = App['settings']

const ErrorMessages = lazyNamed(() => import('./error-messages.tsx'), 'ErrorMessages')

export function AppSettingsDialog({ app, onClose }: { app: App; onClose: () => void }) {
  const [{ tab }, set] = useUrlState('tab')
  return (
    <Dialog onClose={onClose} size="lg" title="App Settings" description={app.name}>
      <Tabs
        label="App settings"
        value={tab === 'messages' ? 'messages' : 'settings'}
        onChange={(next) => set({ tab: next === 'messages' ? next : undefined })}
        className="mt-2 flex min-h-0 flex-1 flex-col [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col [&>[role=tabpanel][hidden]]:hidden"
        tabs={[
          { value: 'settings', label: 'Settings', content: <SettingsTab app={app} onClose={onClose} /> },
          {
            value: 'messages',
            label: 'Error Messages',
            content: (
              <Suspense fallback={<ErrorMessagesSkeleton />}>
                <ErrorMessages app={app} onClose={onClose} />
              </Suspense>
            ),
          },
        ]}
      />
    </Dialog>
  )
}

function SettingsTab({ app, onClose }: { app: App; onClose: () => void }) {
  const [opened] = useState(app.settings)
  const [settings, setSettings] = useState(opened)
  useDraft({ opened, read: () => settings, restore: setSettings })
  const update = useUpdateApp({
    done: 'App settings updated successfully',
    failed: 'Failed to update app settings',
  })
  return (
    <>
      <DialogBody className="gap-5">
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
        <MoreSettings settings={settings} onChange={(change) => setSettings({ ...settings, ...change })} />
        <OfflineSettings settings={settings} onChange={(change) => setSettings({ ...settings, ...change })} />
        <hr />
        <div className="grid gap-4 sm:grid-cols-[12rem_minmax(0,1fr)]">
          <CopyField label="App ID" value={app.appId} />
          <CopyField label="App secret" value={app.appSecret} secret />
        </div>
        <May call={wire.apps.rotateSecret}>
          <RotateSecret app={app} />
        </May>
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose} disabled={update.isPending}>
          Cancel
        </Button>
        <Button
          variant="primary"
          loading={update.isPending}
          onClick={() => update.mutate({ id: app._id, ...toSent(settings, opened) }, { onSuccess: onClose })}
        >
          Save Settings
        </Button>
      </DialogFooter>
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
