import { apiKeyPermissions, type Endpoint, endpoints, permissionsNamed } from '@keyward/contract'
import { expect, test } from 'vitest'
import { nouns, permissionOf, verbs } from '../../lib/format/permissions.ts'
import { describe, presetOf, presets } from './permission-words.ts'

test('offers every permission that a call needs, and no other', () => {
  const needed = Object.values(endpoints).flatMap((calls) =>
    Object.values(calls as Record<string, Endpoint>).flatMap(({ permission = 'self', deleting = [] }) => [
      ...permissionsNamed(permission),
      ...deleting,
    ]),
  )
  const offered = Object.keys(nouns).flatMap((noun) =>
    verbs.map((verb) => permissionOf(noun as keyof typeof nouns, verb)).filter((one) => one !== undefined),
  )
  expect(new Set(offered)).toEqual(new Set(apiKeyPermissions.filter((one) => needed.includes(one))))
})

test('names the preset that a key has, and otherwise what it may do with each kind of object', () => {
  for (const [name, preset] of Object.entries(presets)) {
    expect(presetOf(preset.permissions.toReversed())).toBe(name)
    expect(describe(preset.permissions)).toBe(preset.label)
  }
  expect(presetOf(['licenses:read'])).toBeUndefined()
  expect(describe(['licenses:read', 'clients:read', 'licenses:delete'])).toBe(
    'Licenses: read, delete · End users: read',
  )
})

test('reading alone includes neither secrets nor a change', () => {
  expect(presets.read.permissions).not.toContain('secrets:read')
  expect(presets.read.permissions.every((permission) => permission.endsWith(':read'))).toBe(true)
})
