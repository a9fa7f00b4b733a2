import type { App } from '@keyward/contract'
import { type ReactNode, useState } from 'react'
import { useDraft } from '../../lib/form/drafts.ts'
import { useUnsaved } from '../../lib/form/unsaved.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardFooter, CardHeader } from '../../ui/card.tsx'
import { useUpdateApp } from './queries.ts'
import type { SettingsProps } from './security-settings.tsx'

type Settings = App['settings']

export interface SettingsFormProps {
  app: App
  title: string
  children: (props: SettingsProps) => ReactNode
}

/** Some of the settings of an app, which Save stores. */
export function SettingsForm(props: SettingsFormProps) {
  // Cancel shows the settings as they are now: someone else may have changed them.
  const [edition, setEdition] = useState(0)
  return (
    <Card aria-label={props.title}>
      <CardHeader title={props.title} />
      <Fields key={edition} {...props} onCancel={() => setEdition(edition + 1)} />
    </Card>
  )
}

function Fields({ app, title, children, onCancel }: SettingsFormProps & { onCancel: () => void }) {
  const [opened, setOpened] = useState(app.settings)
  const [settings, setSettings] = useState(opened)
  useDraft({ name: title, opened, read: () => settings, restore: setSettings })
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
        {children({ settings, onChange: (change) => setSettings({ ...settings, ...change }) })}
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
