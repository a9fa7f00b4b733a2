import { readFileSync } from 'node:fs'
import { apiKeyPermissions, limits, permissions } from '@keyward/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import type { ActionRecord } from '../../src/db/index.ts'
import { hashed, makeApp, type Owner, refusal, signUp, wrongFields } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'

const published: ActionRecord[] = []
const on = serverForAll({}, { onRecords: (records) => published.push(...records) })
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
let other: Owner
beforeAll(async () => {
  other = await signUp(on)
})

const list = async (vendor: Owner = owner) => (await vendor.call('GET', '/api-keys')).json.data.apiKeys
const create = (wanted: object, vendor: Owner = owner) =>
  vendor.call('POST', '/api-keys', { name: 'Build server', permissions: ['licenses:read'], ...wanted })

describe('creating an API key', () => {
  test('shows the key once, stores only its hash, and records who made it', async () => {
    published.length = 0
    const { apiKey, key, id } = await makeApiKey(on, owner, {
      name: ' Build server ',
      permissions: ['licenses:write', 'licenses:read', 'licenses:read'],
      apps: [app.appId, app._id],
      expiresAt: on.clock.inDays(30),
      networks: ['203.0.113.77/24', '2001:db8:0:1::5', '::ffff:198.51.100.1', '203.0.113.0/24'],
    })
    expect(apiKey).toEqual({
      _id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      name: 'Build server',
      hint: key.slice(-4),
      permissions: ['licenses:write', 'licenses:read'],
      apps: [app._id],
      expiresAt: on.clock.inDays(30),
      networks: ['203.0.113.0/24', '2001:db8:0:1::/64', '198.51.100.1'],
      createdAt: on.clock.inDays(0),
      lastUsedAt: null,
      lastAddress: null,
    })
    expect(await list()).toContainEqual(apiKey)
    const row = await on.database.db
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const account = await on.database.db
      .selectFrom('accounts')
      .select('id')
      .where('email', '=', owner.email)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ key_hash: hashed(key), created_by: account.id })
    const { detail } = published.find(({ action }) => action === 'api_key.created') ?? {}
    expect(detail).toMatchObject({ name: 'Build server', apps: [app._id] })
    for (const stored of [row, detail, await list()]) expect(JSON.stringify(stored)).not.toContain(key)
  })

  test('accepts every permission but those about members', async () => {
    const kept = permissions.filter((one) => !one.startsWith('members:'))
    expect(apiKeyPermissions).toEqual(kept)
    expect((await makeApiKey(on, owner, { permissions: kept })).apiKey.permissions).toEqual(kept)
    for (const one of ['members:read', 'members:write', 'ownership', 'self', 'licenses:*'])
      expect(wrongFields(await create({ permissions: [one] }))).toEqual(['permissions.0'])
  })

  test.each<[string, object, string]>([
    ['no name', { name: ' ' }, 'name'],
    ['a long name', { name: 'n'.repeat(limits.apiKeyNameMax + 1) }, 'name'],
    ['no permission', { permissions: [] }, 'permissions'],
    ['no app', { apps: [] }, 'apps'],
    ['too many apps', { apps: Array.from({ length: 201 }, (_, at) => `app_${at}`) }, 'apps'],
    ['an expiry in the past', { expiresAt: '2020-01-01' }, 'expiresAt'],
    ['text as a network', { networks: ['10.0.0.0/8', 'office'] }, 'networks.1'],
    ['the whole internet', { networks: ['0.0.0.0/0'] }, 'networks.0'],
    ['an IPv6 network of a continent', { networks: ['2000::/3'] }, 'networks.0'],
    ['too many networks', { networks: Array.from({ length: 51 }, (_, at) => `10.0.0.${at}`) }, 'networks'],
  ])('rejects %s', async (_what, wanted, path) => {
    const answer = await create(wanted)
    expect(refusal(answer)).toBe('invalid_input')
    expect(wrongFields(answer)).toEqual([path])
  })

  test('answers for an app of another vendor as for a missing one', async () => {
    const theirs = await makeApp(other, 'Theirs')
    const answers = await Promise.all(
      [[theirs._id], [theirs.appId], ['app_none'], [app._id, theirs._id]].map((apps) => create({ apps })),
    )
    for (const { json } of answers) expect(json).toEqual(answers[0]?.json)
    expect(refusal(answers[0]!)).toBe('not_found')
  })

  test('stops at 100 keys, under concurrent calls too, and goes on after one is revoked', async () => {
    const vendor = await signUp(on)
    const rows = Array.from({ length: limits.apiKeysMax - 1 }, (_, at) => ({
      id: `key_${vendor.id}_${at}`,
      owner_id: vendor.id,
      key_hash: `hash ${vendor.id} ${at}`,
      hint: 'abcd',
      name: `Key ${at}`,
      permissions: '[]',
      apps: null,
      networks: '[]',
      expires_at: null,
      created_by: vendor.id,
      created_at: at,
    }))
    await on.database.db.insertInto('api_keys').values(rows).execute()
    const answers = await Promise.all(Array.from({ length: 32 }, () => create({}, vendor)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(refusal(answer)).toBe('api_keys_full')
    expect(await list(vendor)).toHaveLength(limits.apiKeysMax)
    expect((await vendor.call('DELETE', `/api-keys/${rows[0]!.id}`)).status).toBe(200)
    expect((await create({}, vendor)).status).toBe(201)
  })
})

describe('an API key', () => {
  test('makes the calls that its permissions cover, and no other', async () => {
    const key = await makeApiKey(on, owner, { permissions: ['licenses:read', 'licenses:write'] })
    expect((await key.call('GET', '/licenses')).status).toBe(200)
    const made = await key.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(5) })
    expect(made.status).toBe(201)
    for (const [method, path] of [
      ['GET', '/clients'],
      ['DELETE', `/licenses/${made.json.data.licenses[0]._id}`],
      ['GET', '/apps'],
      ['PUT', '/settings'],
    ] as const)
      expect(refusal(await key.call(method, path)), `${method} ${path}`).toBe('permission_missing')
  })

  test('cannot make a call that needs a person, whatever it carries', async () => {
    const key = await makeApiKey(on, owner, { permissions: [...apiKeyPermissions] })
    for (const [method, path, body] of [
      ['GET', '/api-keys'],
      ['POST', '/api-keys', { name: 'Mine', permissions: ['licenses:read'] }],
      ['DELETE', `/api-keys/${key.id}`],
      ['GET', '/auth/profile'],
      ['POST', '/auth/logout', {}],
      ['GET', '/events'],
      ['POST', '/settings/reset', {}],
    ] as const)
      expect(refusal(await key.call(method, path, body)), `${method} ${path}`).toBe('api_key_not_allowed')
  })

  test('learns what it may do, but not where it works, and no person asks for one', async () => {
    const wanted = { permissions: ['licenses:read'], apps: [app._id], networks: ['127.0.0.0/8'] }
    const key = await makeApiKey(on, owner, wanted)
    const { status, json } = await key.call('GET', '/api-keys/current')
    expect(status).toBe(200)
    expect(json.data.apiKey).toEqual({
      _id: key.id,
      name: 'Build server',
      permissions: ['licenses:read'],
      apps: [app._id],
      expiresAt: null,
    })
    expect(refusal(await owner.call('GET', '/api-keys/current'))).toBe('permission_missing')
  })

  test('is no token of a reseller or a program', async () => {
    const key = await makeApiKey(on, owner)
    expect(refusal(await key.call('GET', '/resellers/auth/profile'))).toBe('unauthorized')
    expect(
      refusal(await key.call('GET', '/client/session', undefined, { headers: { 'keyward-app': app.appId } })),
    ).toBe('sessionUnauthed')
  })

  test('is named by the records of what it does', async () => {
    const key = await makeApiKey(on, owner, { permissions: ['licenses:write'] })
    published.length = 0
    await key.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(5) })
    const record = published.find(({ action }) => action === 'licenses.created')
    expect(record?.actor).toMatchObject({ kind: 'api_key', actorId: key.id })
    const stored = await on.database.db
      .selectFrom('audit')
      .select(['actor_kind', 'actor_id', 'session_id', 'owner_id'])
      .where('id', '=', record!.id)
      .executeTakeFirstOrThrow()
    expect(stored).toEqual({
      actor_kind: 'api_key',
      actor_id: key.id,
      session_id: null,
      owner_id: owner.id,
    })
  })

  test('keeps answers to repeats apart from those of its owner and of other keys', async () => {
    const wanted = { permissions: ['licenses:write'] }
    const [one, two] = [await makeApiKey(on, owner, wanted), await makeApiKey(on, owner, wanted)]
    const body = { app: app._id, expiresAt: on.clock.inDays(5) }
    const send = async (token: string) => {
      const { json } = await on.call('POST', '/licenses', {
        token,
        body,
        headers: { 'idempotency-key': 'a' },
      })
      return json.data.licenses[0].key
    }
    const keys = [await send(one.key), await send(two.key), await send(owner.token)]
    expect(new Set(keys).size).toBe(3)
    expect(await send(one.key)).toBe(keys[0])
  })
})

test('the commands of docs/api-keys.md create, extend and ban a license', async () => {
  const key = await makeApiKey(on, owner, { permissions: ['licenses:write'] })
  const page = readFileSync(new URL('../../../../docs/api-keys.md', import.meta.url), 'utf8')
  const commands = [...page.matchAll(/^curl -X (\w+) \$KEYWARD\/api(\S+) [\s\S]*?-d '([^']+)'/gm)]
  let id = ''
  const done = []
  for (const [, method = '', path = '', body = ''] of commands) {
    const filled = (text: string) => text.replace('A1B2C3D4', app.appId).replace('lic_…', id)
    const { status, json } = await key.call(method, filled(path), JSON.parse(filled(body)))
    id = json.data?.licenses?.[0]?._id ?? id
    done.push(status)
  }
  expect(done).toEqual([201, 200, 200])
  const { license } = (await owner.call('GET', `/licenses/${id}`)).json.data
  expect(license).toMatchObject({ banned: true })
})

test('a key imports licenses, which are recorded as its work', async () => {
  const key = await makeApiKey(on, owner, { permissions: ['licenses:write'] })
  published.length = 0
  const { status, json } = await key.call('POST', '/licenses/import', {
    app: app._id,
    csv: `expiresAt\n${'2030-01-01\n'.repeat(1500)}`,
  })
  expect({ status, created: json.data?.created }).toEqual({ status: 200, created: 1500 })
  const record = published.find(({ action }) => action === 'licenses.imported')
  expect(record?.actor).toMatchObject({ kind: 'api_key', actorId: key.id })
})

describe('an API key ends', () => {
  test('exactly when it expires, and stays in the list', async () => {
    const end = on.clock.now() + minute
    const { call, id } = await makeApiKey(on, owner, { expiresAt: new Date(end).toISOString() })
    on.clock.advance(minute - 1)
    expect((await call('GET', '/licenses')).status).toBe(200)
    on.clock.advance(1)
    expect(refusal(await call('GET', '/licenses'))).toBe('unauthorized')
    expect((await list()).map(({ _id }: { _id: string }) => _id)).toContain(id)
  })

  test('when it is revoked, from the next request', async () => {
    const { call, id } = await makeApiKey(on, owner)
    expect((await call('GET', '/licenses')).status).toBe(200)
    published.length = 0
    expect((await owner.call('DELETE', `/api-keys/${id}`)).status).toBe(200)
    expect(published).toMatchObject([{ action: 'api_key.revoked', targetId: id }])
    expect(refusal(await call('GET', '/licenses'))).toBe('unauthorized')
    expect((await list()).map(({ _id }: { _id: string }) => _id)).not.toContain(id)
    expect(refusal(await owner.call('DELETE', `/api-keys/${id}`))).toBe('not_found')
  })

  test('never by another vendor, who gets the answer for a missing one', async () => {
    const { call, id } = await makeApiKey(on, owner)
    const [theirs, missing] = [
      await other.call('DELETE', `/api-keys/${id}`),
      await other.call('DELETE', '/api-keys/key_none'),
    ]
    expect(theirs.json).toEqual(missing.json)
    expect(refusal(theirs)).toBe('not_found')
    expect((await call('GET', '/licenses')).status).toBe(200)
    expect(await list(other)).toEqual([])
  })

  test('together with its vendor', async () => {
    const vendor = await signUp(on)
    const { call } = await makeApiKey(on, vendor)
    await on.database.db.deleteFrom('owners').where('id', '=', vendor.id).execute()
    expect(refusal(await call('GET', '/licenses'))).toBe('unauthorized')
  })

  test('when the platform is reset', async () => {
    const vendor = await signUp(on)
    const { call } = await makeApiKey(on, vendor)
    published.length = 0
    expect((await vendor.call('POST', '/settings/reset', {})).status).toBe(200)
    expect(published.map(({ action }) => action)).toContain('api_keys.revoked')
    expect(refusal(await call('GET', '/licenses'))).toBe('unauthorized')
  })
})

test.each<[string, (vendor: Owner) => Promise<{ by: Pick<Owner, 'call'>; path: string }>]>([
  [
    'handing the vendor over',
    async (vendor) => {
      const member = await addMember(on, vendor, { role: 'manager' })
      return { by: member, path: `/members/${member._id}/make-owner` }
    },
  ],
  [
    'a reset of the platform',
    async ({ email, password }) => ({
      by: {
        call: async (...input) => {
          const { token } = (await on.call('POST', '/auth/login', { body: { email, password } })).json.data
          return on.call(input[0], input[1], { token, body: input[2] })
        },
      },
      path: '/settings/reset',
    }),
  ],
])('%s leaves no key behind that is being created meanwhile', async (_what, prepare) => {
  const vendor = await signUp(on)
  const { by, path } = await prepare(vendor)
  const answers = await Promise.all([
    ...Array.from({ length: 8 }, () => create({}, vendor)),
    vendor.call('POST', path, {}),
    ...Array.from({ length: 8 }, () => create({}, vendor)),
  ])
  expect(answers[8]?.status).toBe(200)
  const made = answers.filter(({ status }) => status === 201).map(({ json }) => json.data.key as string)
  for (const token of made) expect(refusal(await on.call('GET', '/licenses', { token }))).toBe('unauthorized')
  expect((await by.call('GET', '/api-keys')).json.data.apiKeys).toEqual([])
})

describe('a key for some apps', () => {
  test('finds nothing of the others', async () => {
    const [mine, hidden] = [await makeApp(owner, 'Mine'), await makeApp(owner, 'Hidden')]
    for (const { _id } of [mine, hidden])
      await owner.call('POST', '/licenses', { app: _id, expiresAt: on.clock.inDays(5) })
    const permissions = [...apiKeyPermissions]
    const { call } = await makeApiKey(on, owner, { permissions, apps: [mine._id] })
    const names = (await call('GET', '/apps')).json.data.apps.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['Mine'])
    expect((await call('GET', '/licenses')).json.data.pagination.total).toBe(1)
    for (const app of [hidden._id, hidden.appId]) {
      expect(refusal(await call('GET', `/apps/${app}`))).toBe('not_found')
      const licenses = { app, expiresAt: on.clock.inDays(5) }
      expect(refusal(await call('POST', '/licenses', licenses))).toBe('not_found')
    }
    expect(refusal(await call('POST', '/apps', { name: 'More' }))).toBe('permission_missing')
  })

  test('can access nothing once the last of them is deleted', async () => {
    const [one, two] = [await makeApp(owner, 'One'), await makeApp(owner, 'Two')]
    const apps = ['apps:read', 'licenses:read']
    const first = await makeApiKey(on, owner, { permissions: apps, apps: [one._id] })
    const both = await makeApiKey(on, owner, { permissions: apps, apps: [one._id, two._id] })
    const left = async ({ id, call }: typeof first) => {
      const key = (await list()).find(({ _id }: { _id: string }) => _id === id)
      const { total } = (await call('GET', '/apps')).json.data.pagination
      return { apps: key.apps, total }
    }
    expect((await owner.call('DELETE', `/apps/${one._id}`)).status).toBe(200)
    expect(await left(first)).toEqual({ apps: [], total: 0 })
    expect(await left(both)).toEqual({ apps: [two._id], total: 1 })
  })

  test('loses each of several that are deleted at once', async () => {
    const apps = [await makeApp(owner, 'One'), await makeApp(owner, 'Two'), await makeApp(owner, 'Three')]
    const { id } = await makeApiKey(on, owner, { apps: apps.map(({ _id }) => _id) })
    const deletions = await Promise.all(apps.map(({ _id }) => owner.call('DELETE', `/apps/${_id}`)))
    expect(deletions.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await list()).find(({ _id }: { _id: string }) => _id === id)?.apps).toEqual([])
  })
})
