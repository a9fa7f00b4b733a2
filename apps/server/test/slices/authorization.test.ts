// On PostgreSQL in the full run: it asserts what is refused before any statement.
import { apiKeyPermissions, type Endpoint, isGranted } from '@keyward/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '../../src/http/openapi.ts'
import { makeApp } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { everyRow } from '../every-row.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)

/** What no preset includes. */
const ownPermissions = ['licenses:read', 'licenses:delete', 'billing:read', 'audit:read', 'secrets:write']

/** The tokens of all callers, in the order of the tests. */
const tokens: Record<string, string> = {}

beforeAll(async () => {
  const app = await makeApp(owner)
  tokens.owner = owner.token
  for (const role of ['manager', 'support', 'viewer'])
    tokens[role] = (await addMember(on, owner, { role })).token
  tokens['a custom role'] = (
    await addMember(on, owner, { role: 'custom', permissions: ownPermissions })
  ).token
  tokens['a manager of another app'] = (
    await addMember(on, owner, { role: 'manager', apps: [app._id] })
  ).token
  const key = async (wanted: object) => (await makeApiKey(on, owner, wanted)).key
  tokens['a key with every permission'] = await key({ permissions: apiKeyPermissions })
  tokens['a key for another app'] = await key({ permissions: apiKeyPermissions, apps: [app._id] })
  tokens['a key that reads apps'] = await key({ permissions: ['apps:read'] })
  tokens['a key from another network'] = await key({
    permissions: apiKeyPermissions,
    networks: ['203.0.113.0/24'],
  })
  const expired = await makeApiKey(on, owner, { permissions: apiKeyPermissions })
  const keys = on.database.db.updateTable('api_keys')
  await keys.set({ expires_at: on.clock.now() }).where('id', '=', expired.id).execute()
  tokens['an expired key'] = expired.key
  const revoked = await makeApiKey(on, owner, { permissions: apiKeyPermissions })
  expect((await owner.call('DELETE', `/api-keys/${revoked.id}`)).status).toBe(200)
  tokens['a revoked key'] = revoked.key
})

type Refusal = 'unauthorized' | 'permission_missing' | 'api_key_not_allowed' | 'network_not_allowed'

type Holds = (permission: string) => boolean

/** Whether a role includes a permission, as the documentation says it. */
const includes: Record<string, Holds> = {
  owner: () => true,
  manager: (permission) => !/^(billing|members):/.test(permission),
  support: (permission) =>
    ['apps:read', 'licenses:read', 'clients:read', 'clients:write'].includes(permission),
  viewer: (permission) => permission.endsWith(':read') && permission !== 'secrets:read',
  custom: (permission) => ownPermissions.includes(permission),
}

/** What a caller is refused whose permissions pass `holds`. */
function refusalWith(endpoint: Endpoint, holds: Holds, hasAllApps: boolean): Refusal | undefined {
  const { permission = 'self', deleting = [], method, allApps } = endpoint
  const isMissing = method === 'DELETE' && !deleting.every(holds)
  return isGranted(permission, holds) && !isMissing && (hasAllApps || allApps === undefined)
    ? undefined
    : 'permission_missing'
}

function refusalOf(endpoint: Endpoint, role: string, hasAllApps = true): Refusal | undefined {
  if (endpoint.permission === 'self') return undefined
  if (endpoint.permission === 'api_key') return 'permission_missing'
  if (endpoint.permission === 'ownership') return role === 'owner' ? undefined : 'permission_missing'
  return refusalWith(endpoint, (permission) => includes[role]?.(permission) === true, hasAllApps)
}

function refusalOfKey(endpoint: Endpoint, holds: Holds, hasAllApps = true): Refusal | undefined {
  const { permission, personal } = endpoint
  if (personal || permission === 'self' || permission === 'ownership') return 'api_key_not_allowed'
  if (permission === 'api_key') return undefined
  return refusalWith(endpoint, holds, hasAllApps)
}

const everythingForKeys = (permission: string) => !permission.startsWith('members:')

const expected: Record<string, (endpoint: Endpoint) => Refusal | undefined> = {
  owner: (endpoint) => refusalOf(endpoint, 'owner'),
  manager: (endpoint) => refusalOf(endpoint, 'manager'),
  support: (endpoint) => refusalOf(endpoint, 'support'),
  viewer: (endpoint) => refusalOf(endpoint, 'viewer'),
  'a custom role': (endpoint) => refusalOf(endpoint, 'custom'),
  'a manager of another app': (endpoint) => refusalOf(endpoint, 'manager', false),
  'a key with every permission': (endpoint) => refusalOfKey(endpoint, everythingForKeys),
  'a key for another app': (endpoint) => refusalOfKey(endpoint, everythingForKeys, false),
  'a key that reads apps': (endpoint) => refusalOfKey(endpoint, (permission) => permission === 'apps:read'),
  'a key from another network': () => 'network_not_allowed',
  'an expired key': () => 'unauthorized',
  'a revoked key': () => 'unauthorized',
}

const refusals: readonly string[] = [
  'unauthorized',
  'permission_missing',
  'api_key_not_allowed',
  'network_not_allowed',
] satisfies Refusal[]

const calls = allEndpoints
  .filter(({ endpoint }) => endpoint.access === 'owner')
  .map(({ name, endpoint }) => [name, endpoint] as const)

/** Calls about an app that does not exist. `isAccepted` adds input that each call rejects, so that nothing changes. */
async function codeOf(endpoint: Endpoint, token: string, isAccepted: boolean): Promise<string | undefined> {
  const path = endpoint.path.replace(/:\w+/g, 'none_00000000000000000000000000000000')
  const body = isAccepted && endpoint.method !== 'GET' ? { unknown: true } : undefined
  const query = isAccepted && endpoint.method === 'DELETE' && endpoint.query ? '?unknown=true' : ''
  const { json } = await on.call(endpoint.method, `${path}${query}`, { token, body })
  return json?.code
}

const endsASession = ['auth.logout']
const staysOpen = (endpoint: Endpoint) => endpoint.file?.includes('text/event-stream') === true

describe.each(Object.keys(expected))('%s', (caller) => {
  test('is refused each call that it may not make, and no other', () =>
    everyRow(calls, async (name, endpoint) => {
      const wanted = expected[caller]?.(endpoint)
      if (wanted === undefined && (staysOpen(endpoint) || endsASession.includes(name))) return
      const code = await codeOf(endpoint, tokens[caller] ?? '', wanted === undefined)
      if (wanted === undefined) expect(refusals).not.toContain(code)
      else expect(code).toBe(wanted)
    }))
})
