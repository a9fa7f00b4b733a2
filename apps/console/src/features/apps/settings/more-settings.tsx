import { type App, limits, shopLinkIssue } from '@keyward/contract'
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatNumber } from '../../../lib/format/numbers.ts'
import { Switch } from '../../../ui/switch.tsx'
import { ShopLinkField } from '../types/shop-link-field.tsx'
import { NumberSetting } from './number-setting.tsx'
import { SecuritySettings, type SettingsProps } from './security-settings.tsx'
import { VersionSettings } from './version-settings.tsx'

/** Settings that most apps keep at their defaults, in collapsed groups. */
export function MoreSettings({ app, settings, onChange }: SettingsProps & { app: App }) {
  return (
    <>
      <Group title="Devices">
        <Switch
          label="Require a Hardware ID"
          description="Programs that send no hardware ID are rejected, even while the lock is off."
          checked={settings.requireHwid}
          onChange={(requireHwid) => onChange({ requireHwid })}
        />
        <Switch
          label="Require Activation"
          description="Checks without a sign-in accept only devices that are bound to the license."
          checked={settings.requireActivation}
          onChange={(requireActivation) => onChange({ requireActivation })}
        />
        <Switch
          label="Recognize Changed Devices"
          description="A device with a new hardware ID keeps its place if three of its four parts are unchanged, for example after Windows was reinstalled."
          checked={settings.deviceTolerance}
          onChange={(deviceTolerance) => onChange({ deviceTolerance })}
        />
        <Switch
          label="Let Users Free Devices"
          description="Your program can list and free the devices of its user."
          checked={settings.deviceSelfService}
          onChange={(deviceSelfService) => onChange({ deviceSelfService })}
        />
        <NumberSetting
          label="Hours Between Freed Devices"
          hint="A device can also change at most five times within these hours."
          unit="hours"
          min={1}
          max={limits.deviceCooldownHoursMax}
          value={settings.deviceCooldownHours}
          onChange={(deviceCooldownHours) => onChange({ deviceCooldownHours })}
        />
      </Group>
      <Group title="Security">
        <SecuritySettings settings={settings} onChange={onChange} />
      </Group>
      <Group title="Versions and Updates">
        <VersionSettings id={app._id} settings={settings} onChange={onChange} />
      </Group>
      <Group title="Test Orders">
        <Switch
          label="Licenses of Test Orders Work"
          description="Turn this off once you sell, so that programs refuse licenses of test orders."
          checked={settings.testLicenses}
          onChange={(testLicenses) => onChange({ testLicenses })}
        />
      </Group>
      <Group title="Shop">
        <ShopLinkField
          label="Shop Link"
          optional
          hint="For people without a license, and for licenses whose type has no buy link. Programs and the customer’s page show it."
          link={settings.buyUrl ?? ''}
          value={settings.buyUrl ?? ''}
          error={settings.buyUrl === null ? undefined : shopLinkIssue(settings.buyUrl)}
          onChange={(event) => onChange({ buyUrl: event.target.value.trim() || null })}
          onBetter={(buyUrl) => onChange({ buyUrl })}
        />
      </Group>
    </>
  )
}

/** For how long programs run without the server, and stay signed in. */
export function OfflineSettings({ settings, onChange }: SettingsProps) {
  const days = (settings.leaseHours + settings.graceHours) / 24
  return (
    <Group title="Offline and Sign-In">
      <NumberSetting
        label="Hours Offline"
        hint="A program that keeps a lease runs this long without reaching the server."
        unit="hours"
        min={1}
        max={limits.leaseHoursMax}
        value={settings.leaseHours}
        onChange={(leaseHours) => onChange({ leaseHours })}
      />
      <NumberSetting
        label="Grace Hours"
        hint="After that it warns its user, and runs this much longer."
        unit="hours"
        min={0}
        max={limits.leaseHoursMax}
        value={settings.graceHours}
        onChange={(graceHours) => onChange({ graceHours })}
      />
      <NumberSetting
        label="Days Signed In"
        hint={
          settings.rememberDays === 0
            ? `Off: a computer that slept for a day has to sign in again. Recommended: ${limits.rememberDaysDefault}.`
            : 'A device stays signed in this long without use. 0 turns it off.'
        }
        unit="days"
        min={0}
        max={limits.rememberDaysMax}
        value={settings.rememberDays}
        onChange={(rememberDays) => onChange({ rememberDays })}
      />
      {Number.isFinite(days) && (
        <p className="text-[0.8125rem] text-fg-muted">
          A ban takes effect on a device that stays offline after at most{' '}
          {formatNumber(Math.round(days * 10) / 10)} days.
        </p>
      )}
    </Group>
  )
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="group">
      <summary className="flex cursor-pointer list-none items-center gap-1.5 rounded-md font-medium [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-4 text-fg-muted transition-transform group-open:rotate-90"
        />
        {title}
      </summary>
      <div className="mt-4 grid gap-5">{children}</div>
    </details>
  )
}
