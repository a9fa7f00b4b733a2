import { apiKeyPermissions, type Permission, rolePermissions } from '@keyward/contract/permissions'
import { listed } from '../../lib/format/permissions.ts'

export const presets = {
  read: {
    label: 'Read only',
    about: 'Lists, searches and exports. Sees no app secrets and changes nothing.',
    permissions: apiKeyPermissions.filter((permission) => rolePermissions.viewer.includes(permission)),
  },
  issue: {
    label: 'Issue licenses',
    about: 'Creates, extends, bans and imports licenses, and sees your applications. Deletes nothing.',
    permissions: ['apps:read', 'licenses:read', 'licenses:write'],
  },
  all: {
    label: 'Everything',
    about: 'Everything in this account, except members, API keys, handing over and Reset Data.',
    permissions: apiKeyPermissions,
  },
} satisfies Record<string, { label: string; about: string; permissions: readonly Permission[] }>
export type Preset = keyof typeof presets

/** The preset that has exactly these permissions. */
export function presetOf(permissions: readonly Permission[]): Preset | undefined {
  const chosen = new Set(permissions)
  const all = Object.entries(presets) as [Preset, { permissions: readonly Permission[] }][]
  return all.find(
    ([, preset]) =>
      preset.permissions.length === chosen.size && preset.permissions.every((one) => chosen.has(one)),
  )?.[0]
}

/** What a key may do in words: 'Issue licenses', or 'Licenses: read, write · End users: read'. */
export function describe(permissions: readonly Permission[]): string {
  const preset = presetOf(permissions)
  if (preset) return presets[preset].label
  return listed(permissions)
}
