import { apiKeyPermissions, type Permission } from '@keyward/contract/permissions'

/** The kinds of objects that keys and members can be allowed to use, in the order of the dialogs. */
export const nouns = {
  apps: 'Applications',
  releases: 'Releases',
  secrets: 'App secrets',
  licenses: 'Licenses',
  clients: 'End users',
  resellers: 'Resellers',
  settings: 'Settings',
  billing: 'Plan and payments',
  webhooks: 'Webhooks',
  audit: 'Audit log',
  sales: 'Sales',
} as const

export const verbs = ['read', 'write', 'delete'] as const

/** The permission, if a call needs it: what has none for deleting is deleted by those who may write it, and nothing writes the audit log. */
export const permissionOf = (noun: string, verb: string): Permission | undefined =>
  apiKeyPermissions.find((permission) => permission === `${noun}:${verb}` && permission !== 'audit:write')

/** Permissions in words: 'Licenses: read, write · End users: read'. */
export function listed(permissions: readonly Permission[]): string {
  const parts = new Map<string, string[]>()
  for (const permission of permissions) {
    const [noun = '', verb = ''] = permission.split(':')
    parts.set(noun, [...(parts.get(noun) ?? []), verb])
  }
  return [...parts]
    .map(([noun, allowed]) => `${nouns[noun as keyof typeof nouns] ?? noun}: ${allowed.join(', ')}`)
    .join(' · ')
}
