import { type App, customerPageAddress, limits } from '@keyward/contract'
import { ExternalLink } from 'lucide-react'
import { usePublicConfig } from '../../../lib/api/public-config.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyField } from '../../../ui/copy-button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Input } from '../../../ui/input.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { NumberSetting } from '../settings/number-setting.tsx'
import type { SettingsProps } from '../settings/security-settings.tsx'

/** The color of the page without a choice. */
const defaultColor = '#4353e0'

/** The page on which customers help themselves. `app` is as it was saved. */
export function CustomerPageSettings({ app, settings, onChange }: SettingsProps & { app: App }) {
  const address = customerPageAddress(usePublicConfig()?.publicUrl ?? window.location.origin, app.appId)
  return (
    <>
      <Switch
        label="Customer Page"
        description="Customers sign in with their key, their password or a mailed link. They see what they bought, free devices and choose passwords."
        checked={settings.customerPage}
        onChange={(customerPage) => onChange({ customerPage })}
      />
      {settings.customerPage && (
        <>
          <NumberSetting
            label="Devices to Free"
            hint={`How many devices an end user can free there within ${limits.customerDeviceDays} days. 0 turns it off.`}
            min={0}
            max={limits.customerDevicesMax}
            value={settings.customerDevices}
            onChange={(customerDevices) => onChange({ customerDevices })}
          />
          <Field
            label="Page Color"
            hint="The color of its buttons. Texts in it are made darker or lighter where they could not be read."
            action={
              settings.brandColor !== null && (
                <button
                  type="button"
                  className="rounded-sm text-[0.8125rem] text-accent-text hover:underline"
                  onClick={() => onChange({ brandColor: null })}
                >
                  Use the Default
                </button>
              )
            }
          >
            <Input
              type="color"
              className="max-w-24 p-1"
              value={settings.brandColor ?? defaultColor}
              onChange={(event) => onChange({ brandColor: event.target.value })}
            />
          </Field>
        </>
      )}
      {app.settings.customerPage && (
        <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_auto] sm:items-end">
          <CopyField label="Page Address" value={address} />
          <Button asChild>
            <a href={address} target="_blank" rel="noreferrer">
              <ExternalLink />
              Open Page
            </a>
          </Button>
        </div>
      )}
    </>
  )
}
