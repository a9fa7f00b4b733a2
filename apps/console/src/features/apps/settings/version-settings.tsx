import { limits, versionPattern } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { call } from '../../../lib/api/call.ts'
import { keys } from '../../../lib/api/query-keys.ts'
import { wire } from '../../../lib/api/wire.ts'
import { formatNumber } from '../../../lib/format/numbers.ts'
import { Field } from '../../../ui/field.tsx'
import { Input } from '../../../ui/input.tsx'
import { Switch } from '../../../ui/switch.tsx'
import type { SettingsProps } from './security-settings.tsx'

/** Which versions of the program may run, and who can read what to update to. */
export function VersionSettings({ id, settings, onChange }: SettingsProps & { id: string }) {
  const { minimumVersion } = settings
  const isValid =
    minimumVersion === null ||
    (minimumVersion.length <= limits.versionMax && versionPattern.test(minimumVersion))
  const refused = useRefused(id, isValid ? minimumVersion : null)
  return (
    <>
      <Field
        label="Oldest Version"
        optional
        hint={
          minimumVersion !== null && refused !== undefined
            ? `Refuses ${formatNumber(refused)} bound ${refused === 1 ? 'device' : 'devices'} with an older version.`
            : 'Programs of older versions are refused, except security fixes and the newest version that a license covers.'
        }
        error={isValid ? undefined : 'Enter three numbers, such as 1.2.0'}
      >
        <Input
          placeholder="1.0.0"
          autoComplete="off"
          value={minimumVersion ?? ''}
          onChange={(event) => onChange({ minimumVersion: event.target.value.trim() || null })}
        />
      </Field>
      <Switch
        label="Public Updates"
        description="Updaters read all releases without a license. Otherwise they send one and read what it covers."
        checked={settings.publicUpdates}
        onChange={(publicUpdates) => onChange({ publicUpdates })}
      />
    </>
  )
}

/** How many devices a minimum refuses; undefined while that is not known. */
function useRefused(id: string, typed: string | null): number | undefined {
  const minimumVersion = useDeferredValue(typed)
  const { data } = useQuery({
    queryKey: [...keys.app, id, 'refused', minimumVersion],
    queryFn: async ({ signal }) =>
      (
        await call(wire.exposure.refused, {
          params: { id },
          query: { minimumVersion: minimumVersion ?? '' },
          signal,
        })
      ).devices,
    enabled: minimumVersion !== null,
  })
  return minimumVersion === typed ? data : undefined
}
