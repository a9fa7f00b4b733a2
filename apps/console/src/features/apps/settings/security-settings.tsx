import { type App, limits } from '@keyward/contract'
import { usePublicConfig } from '../../../lib/api/public-config.ts'
import { Field } from '../../../ui/field.tsx'
import { Textarea } from '../../../ui/input.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { NumberSetting } from './number-setting.tsx'

type Settings = App['settings']

export interface SettingsProps {
  settings: Settings
  onChange: (change: Partial<Settings>) => void
}

/** Who may sign in, and from where. */
export function SecuritySettings({ settings, onChange }: SettingsProps) {
  const knowsVpns = usePublicConfig()?.vpnRanges
  return (
    <>
      <Switch
        label="Block VPNs"
        description={
          knowsVpns === false
            ? 'This server has no list of the addresses of VPN providers, so it cannot recognize VPNs. Its operator can set VPN_RANGES_FILE.'
            : 'Programs that call from a network of a VPN provider are rejected.'
        }
        checked={settings.blockVpn}
        disabled={knowsVpns === false && !settings.blockVpn}
        onChange={(blockVpn) => onChange({ blockVpn })}
      />
      {settings.blockVpn && (
        <Field label="Allowed Networks" hint="Addresses that Block VPNs lets through, one per line.">
          <Textarea
            value={settings.vpnAllowed.join('\n')}
            onChange={(event) => onChange({ vpnAllowed: event.target.value.split('\n') })}
            spellCheck={false}
          />
        </Field>
      )}
      <Switch
        label="Check the Build"
        description="Programs start only with a version and hash on the list of allowed builds, unless it is empty."
        checked={settings.checkHash}
        onChange={(checkHash) => onChange({ checkHash })}
      />
      <Switch
        label="Reject Leaked Passwords"
        description="New users cannot choose common passwords, or leaked ones where this server can look them up."
        checked={settings.checkPasswords}
        onChange={(checkPasswords) => onChange({ checkPasswords })}
      />
      <NumberSetting
        label="Shortest Username"
        hint="Characters that a new user's name needs."
        min={limits.usernameMin}
        max={limits.usernameMinMax}
        value={settings.usernameMin}
        onChange={(usernameMin) => onChange({ usernameMin })}
      />
      <NumberSetting
        label="Days of Activity"
        hint="How long the activity log keeps what programs did."
        min={limits.activityDaysMin}
        max={limits.activityDaysMax}
        value={settings.activityDays}
        onChange={(activityDays) => onChange({ activityDays })}
      />
    </>
  )
}
