// This file has no schemas: a page of the console imports it, and would load all of them.

const nouns = [
  'apps',
  'releases',
  'secrets',
  'licenses',
  'clients',
  'resellers',
  'settings',
  'billing',
  'members',
  'webhooks',
  'audit',
] as const
type Noun = (typeof nouns)[number]

/** Nothing writes these. */
const readOnly = ['sales'] as const

/** Deleting these needs more than writing them. */
const deletable = ['licenses', 'clients'] as const

/** What an actor may do with one kind of object of an owner. */
export type Permission =
  | `${Noun}:${'read' | 'write'}`
  | `${(typeof readOnly)[number]}:read`
  | `${(typeof deletable)[number]}:delete`

const reads = [...nouns, ...readOnly].map((noun): Permission => `${noun}:read`)
const writes = nouns.map((noun): Permission => `${noun}:write`)
const deletions = deletable.map((noun): Permission => `${noun}:delete`)

export const permissions: readonly Permission[] = [...reads, ...writes, ...deletions]

/** What an API key may carry: a program must not let people in. */
export const apiKeyPermissions: readonly Permission[] = permissions.filter(
  (permission) => !permission.startsWith('members:'),
)

/** What a member with a role of its own may have: nobody but the owner decides about members, or pays. */
export const customPermissions: readonly Permission[] = apiKeyPermissions.filter(
  (permission) => permission !== 'billing:write',
)

/** What a person may do at a vendor. */
export const roles = ['owner', 'manager', 'support', 'viewer', 'custom'] as const
export type Role = (typeof roles)[number]

const ofOwnerAlone = (permission: Permission) => /^(billing|members):/.test(permission)

/** The permissions of each role but `custom`, whose members name theirs. Resetting the platform and handing it over need ownership, which no permission replaces. */
export const rolePermissions: Readonly<Record<Exclude<Role, 'custom'>, readonly Permission[]>> = {
  owner: permissions,
  manager: permissions.filter((permission) => !ofOwnerAlone(permission)),
  support: ['apps:read', 'licenses:read', 'clients:read', 'clients:write'],
  viewer: reads.filter((permission) => permission !== 'secrets:read'),
}

/**
 * What a call of the owner's API needs: a permission, only a session of one's own (`self`), to be the owner
 * (`ownership`), which no set of permissions replaces, or to be an API key, with any permissions (`api_key`).
 */
export type Requirement = Permission | 'self' | 'ownership' | 'api_key'

/** Permissions of which one is enough. */
export interface AnyOf {
  anyOf: readonly Permission[]
}

/** What a call needs: one requirement, all permissions of a list, or one of several. */
export type Needed = Requirement | readonly Permission[] | AnyOf

/** Whether who has the permissions that pass `has` has what a call needs. Ownership and the like are no permission. */
export function isGranted(needed: Needed, has: (permission: Permission) => boolean): boolean {
  if (typeof needed === 'string') return has(needed as Permission)
  return 'anyOf' in needed ? needed.anyOf.some(has) : needed.every(has)
}

/** The permissions that a call names, whether it needs all or one of them. */
export const permissionsNamed = (needed: Needed): readonly Permission[] =>
  typeof needed === 'string'
    ? permissions.filter((permission) => permission === needed)
    : 'anyOf' in needed
      ? needed.anyOf
      : needed
