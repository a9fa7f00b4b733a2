import { endpoints, rolePermissions } from '@keyward/contract'
import { expect, test } from 'vitest'
import { type Doing, mayDo } from './rights.tsx'
import type { Wire } from './wire.ts'

type Role = keyof typeof rolePermissions
const rightsOf = (role: Role, allApps = true) => ({
  role,
  permissions: [...rolePermissions[role]],
  allApps,
})
const owners = Object.values(endpoints)
  .flatMap((group) => Object.values(group))
  // Only keys ask what a key may do.
  .filter(({ access, permission }) => access === 'owner' && permission !== 'api_key') as Wire[]
// The table that the console loads leaves out what everyone signed in may do.
const calls = owners.map((call) =>
  (call.permission as string) === 'self' ? { ...call, permission: undefined } : call,
)
const { apps, bulk, clients, licenses, payments, settings } = endpoints as unknown as Record<
  keyof typeof endpoints,
  Record<string, Wire>
>

test('an owner may make every call', () => {
  expect(calls.filter((call) => !mayDo(rightsOf('owner'), call))).toEqual([])
})

test('a viewer may make no call that changes something', () => {
  const changing = calls.filter(({ method, permission }) => method !== 'GET' && permission !== undefined)
  expect(changing.length).toBeGreaterThan(40)
  expect(changing.filter((call) => mayDo(rightsOf('viewer'), call))).toEqual([])
})

test.each<[string, Role, boolean, Doing | undefined, boolean]>([
  ['support extends end users', 'support', true, clients.extend, true],
  ['support deletes no end user', 'support', true, clients.remove, false],
  ['support deletes no selected end users', 'support', true, { call: bulk.clients!, part: 'delete' }, false],
  ['support bans selected end users', 'support', true, bulk.clients, true],
  ['support generates no licenses', 'support', true, licenses.create, false],
  ['a manager deletes apps', 'manager', true, apps.remove, true],
  ['a manager buys nothing', 'manager', true, payments.createOrder, false],
  ['a manager resets nothing', 'manager', true, settings.reset, false],
  ['a manager creates apps', 'manager', true, apps.create, true],
  ['a manager of some apps creates none', 'manager', false, apps.create, false],
  ['a manager of some apps changes no settings of all', 'manager', false, settings.update, false],
  ['a manager of some apps deletes no licenses of all', 'manager', false, licenses.removeAll, false],
  [
    'a manager of some apps deletes the licenses of one',
    'manager',
    false,
    { call: licenses.removeAll!, part: 'with app' },
    true,
  ],
])('%s', (_, role, allApps, doing, expected) => {
  expect(mayDo(rightsOf(role, allApps), doing!)).toBe(expected)
})
