import type { App } from '@keyward/contract'
import { type ReactNode, useState } from 'react'
import { useUnsaved } from '../../../lib/form/unsaved.ts'
import { type AppTabName, appTabPath } from '../../../lib/navigation/app-tabs.ts'
import { Button } from '../../../ui/button.tsx'
import { Card, CardBody, CardFooter, CardHeader } from '../../../ui/card.tsx'
import { useAppSwitches, useUpdateApp } from '../queries.ts'
import type { SettingsProps } from './security-settings.tsx'

type Settings = App['settings']

export interface SettingsFormProps {
  app: App
  title: string
  /** The tab that it is on. */
  tab: AppTabName
  children: (props: SettingsProps) => ReactNode
}

/** What was typed, and what it replaces. */
interface Edit {
  typed: Partial<Settings>
  seen: Partial<Settings>
}

const unedited: Edit = { typed: {}, seen: {} }

/** Some of the settings of an app: a switch is saved at once, what is typed by Save. */
export function SettingsForm({ app, title, tab, children }: SettingsFormProps) {
  const [edit, setEdit] = useState(unedited)
  const opened = { ...app.settings, ...edit.seen }
  const settings = { ...app.settings, ...edit.typed }
  const changed = changedOf(settings, opened)
  const show = (values: Partial<Settings>, over: Settings) => {
    const next = { ...over, ...values }
    const names = changedOf(next, over)
    setEdit({ typed: pick(next, names), seen: pick(over, names) })
  }
  const { forget, send } = useUnsaved({
    title: `${title} of ${app.name}`,
    to: appTabPath(app._id, tab),
    opened: textsOf(opened),
    values: textsOf(settings),
    show: (values) => show(values, opened),
  })
  const switches = useAppSwitches(app)
  const update = useUpdateApp({
    done: 'App settings updated successfully',
    failed: 'Failed to update app settings',
  })
  const onChange = (change: Partial<Settings>) => {
    const names = Object.keys(change) as Name[]
    if (Object.values(change).some(isSwitch)) return switches.mutate(change)
    setEdit({
      typed: { ...edit.typed, ...change },
      seen: { ...pick(app.settings, names), ...edit.seen },
    })
  }
  const reset = () => {
    forget()
    setEdit(unedited)
  }
  const save = () => {
    // Without the empty lines of a text field.
    const vpnAllowed = settings.vpnAllowed.map((line) => line.trim()).filter(Boolean)
    const body = {
      settings: pick({ ...settings, vpnAllowed }, changed),
      seen: { settings: pick(opened, changed) },
    }
    const settle = send(textsOf(settings))
    void update.mutateAsync({ id: app._id, ...body }).then(
      ({ settings: stored }) => show(settle(textsOf(stored)), stored),
      () => {},
    )
  }
  return (
    <Card aria-label={title}>
      <CardHeader title={title} />
      <CardBody className="grid max-w-2xl gap-5">{children({ settings, onChange })}</CardBody>
      <CardFooter>
        <Button onClick={reset} disabled={update.isPending || changed.length === 0}>
          Cancel
        </Button>
        <Button variant="primary" loading={update.isPending} disabled={changed.length === 0} onClick={save}>
          Save Settings
        </Button>
      </CardFooter>
    </Card>
  )
}

type Name = keyof Settings

/** A setting that is on or off has a switch; the others are typed. */
const isSwitch = (value: unknown) => typeof value === 'boolean'

const pick = (from: Settings, names: readonly Name[]): Partial<Settings> =>
  Object.fromEntries(names.map((name) => [name, from[name]]))

const textsOf = (settings: Settings): Partial<Settings> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => !isSwitch(value)))

const changedOf = (typed: Settings, opened: Settings) =>
  (Object.keys(typed) as Name[]).filter(
    (name) => JSON.stringify(typed[name]) !== JSON.stringify(opened[name]),
  )
