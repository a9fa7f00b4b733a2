import { type App, limits } from '@keyward/contract'
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Switch } from '../../ui/switch.tsx'

type Settings = App['settings']

interface Props {
  settings: Settings
  onChange: (change: Partial<Settings>) => void
}

/** Settings that most apps keep at their defaults, in collapsed groups. */
export function MoreSettings({ settings, onChange }: Props) {
  return (
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
      <Field
        label="Hours Between Freed Devices"
        hint="A device can also change at most five times within these hours."
        error={hoursError(settings.deviceCooldownHours)}
      >
        <Input
          type="number"
          min={1}
          max={limits.deviceCooldownHoursMax}
          value={settings.deviceCooldownHours || ''}
          onChange={(event) => onChange({ deviceCooldownHours: event.target.valueAsNumber || 0 })}
        />
      </Field>
    </Group>
  )
}

const hoursError = (hours: number): string | undefined =>
  Number.isInteger(hours) && hours >= 1 && hours <= limits.deviceCooldownHoursMax
    ? undefined
    : `Enter 1 to ${limits.deviceCooldownHoursMax} hours`

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
