import type { AppSettings } from '@keyward/contract'
import { formatNetwork, parseNetwork } from '../../core/networks/networks.ts'
import { invalid } from '../../core/problem.ts'
import type { AppRow } from '../../db/tables.ts'

const flags = {
  hwidLock: 'hwid_lock',
  allowCustomLicenseKey: 'allow_custom_keys',
  requireHwid: 'require_hwid',
  requireActivation: 'require_activation',
  deviceTolerance: 'device_tolerance',
  deviceSelfService: 'device_self_service',
  blockVpn: 'block_vpn',
  checkHash: 'check_hash',
  checkPasswords: 'check_passwords',
  publicUpdates: 'public_updates',
  testLicenses: 'test_licenses',
  customerPage: 'customer_page',
} as const
const numbers = {
  usernameMin: 'username_min',
  deviceCooldownHours: 'device_cooldown_hours',
  rememberDays: 'remember_days',
  leaseHours: 'lease_hours',
  graceHours: 'grace_hours',
  activityDays: 'activity_days',
  customerDevices: 'customer_devices',
} as const

type Flags = typeof flags
type Numbers = typeof numbers
export type SettingColumns = Pick<
  AppRow,
  Flags[keyof Flags] | Numbers[keyof Numbers] | 'vpn_allowed' | 'brand_color' | 'buy_url' | 'minimum_version'
>

/** What is changed; missing settings stay. */
export type SettingsUpdate = { [Name in keyof AppSettings]?: AppSettings[Name] | undefined }

const entriesOf = <T extends object>(of: T) => Object.entries(of) as [keyof T, T[keyof T]][]

export function toSettings(row: SettingColumns): AppSettings {
  return {
    ...(Object.fromEntries(entriesOf(flags).map(([name, column]) => [name, row[column] === 1])) as Record<
      keyof Flags,
      boolean
    >),
    ...(Object.fromEntries(entriesOf(numbers).map(([name, column]) => [name, row[column]])) as Record<
      keyof Numbers,
      number
    >),
    vpnAllowed: JSON.parse(row.vpn_allowed) as string[],
    brandColor: row.brand_color,
    buyUrl: row.buy_url,
    minimumVersion: row.minimum_version,
  }
}

/** The columns of the given settings. */
export function toSettingColumns(update: SettingsUpdate): Partial<SettingColumns> {
  const changes = [
    ...entriesOf(flags).map(([name, column]) => [column, toFlag(update[name])]),
    ...entriesOf(numbers).map(([name, column]) => [column, update[name]]),
    ['brand_color', update.brandColor],
    ['buy_url', update.buyUrl],
    ['minimum_version', update.minimumVersion],
    ['vpn_allowed', update.vpnAllowed && JSON.stringify(toNetworks(update.vpnAllowed))],
  ]
  return Object.fromEntries(changes.filter(([, value]) => value !== undefined))
}

function toNetworks(texts: readonly string[]): string[] {
  const networks = texts.map((text, index) => {
    const network = parseNetwork(text)
    if (!network) throw invalid(`settings.vpnAllowed.${index}`, 'Must be an IP address or a network')
    return formatNetwork(network)
  })
  return [...new Set(networks)]
}

export const toFlag = (value: boolean | undefined): 0 | 1 | undefined =>
  value === undefined ? undefined : value ? 1 : 0
