const nouns = [
  'apps',
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

/** What an actor may do with one kind of object of an owner. */
export type Permission = `${(typeof nouns)[number]}:${'read' | 'write'}`

export const permissions: readonly Permission[] = nouns.flatMap((noun): Permission[] => [
  `${noun}:read`,
  `${noun}:write`,
])

/**
 * What a call of the owner's API needs: a permission, only a session of one's own (`self`), or to be the owner
 * (`ownership`), which no set of permissions replaces.
 */
export type Requirement = Permission | 'self' | 'ownership'
