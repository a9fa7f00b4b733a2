import { apiKeyPermissions, type Permission, permissions, permissionsNamed } from '@keyward/contract'
import fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { everyRow } from '../../test/every-row.ts'
import { toOwnerActor, type VendorActor } from '../core/actor.ts'
import { systemClock } from '../core/clock.ts'
import { problem } from '../core/problem.ts'
import { createGates } from '../core/queues/gate.ts'
import { installErrors } from './errors.ts'
import { createMount } from './mount.ts'
import { allEndpoints } from './openapi.ts'
import { readNoBodies } from './server.ts'

const owner = toOwnerActor({
  accountId: 'acc_1',
  ownerId: 'own_1',
  sessionId: 'ses_1',
  address: '127.0.0.1',
  confirmedAt: Date.now(),
})
let actor: VendorActor = owner

const server = fastify()
installErrors(server)
readNoBodies(server)
const mount = createMount(server, {
  authenticators: {
    owner: async () => actor,
    reseller: async () => undefined,
    customer: async () => undefined,
  },
  clock: systemClock,
  gates: createGates(),
  countStranger: () => undefined,
  budget: { check: () => undefined },
  attempts: { refuseUnread: () => undefined },
  once: async (actor, _keyed, work) => ({ answer: await work(actor), isRepeat: false }),
  checkAnswers: false,
})
const calls = allEndpoints.filter(({ endpoint }) => endpoint.access === 'owner')
for (const { endpoint } of calls) {
  mount(endpoint, 'owner', async () => {
    throw problem('conflict')
  })
}
afterAll(() => server.close())

interface Sent {
  query?: string
  body?: object
}

async function codeOf(
  { endpoint }: (typeof calls)[number],
  { query = '', body }: Sent = {},
): Promise<string> {
  const answer = await server.inject({
    method: endpoint.method,
    url: `/api${endpoint.path.replace(/:\w+/g, 'one')}${query}`,
    ...(body && { payload: body }),
    headers: { authorization: `Bearer ${'a'.repeat(40)}` },
  })
  return answer.json().code
}

const isForbidden = async (call: (typeof calls)[number], sent?: Sent): Promise<boolean> =>
  (await codeOf(call, sent)) === 'permission_missing'

test('every call declares its permission and rejects an actor without it', () =>
  everyRow(
    calls.map((call) => [call.name, call] as const),
    async (_name, call) => {
      const needed = call.endpoint.permission
      expect(needed).toBeDefined()
      if (needed === 'api_key') return
      actor = owner
      expect(await isForbidden(call)).toBe(false)
      const isForbiddenWith = (granted: readonly Permission[]) => {
        actor = { ...owner, permissions: new Set(granted), isOwner: false }
        return isForbidden(call)
      }
      const named = permissionsNamed(needed!)
      const others = permissions.filter((permission) => !named.includes(permission))
      expect(await isForbiddenWith(others)).toBe(needed !== 'self')
      if (named.length === 0) return
      const deleting = call.endpoint.deleting ?? []
      const isOneEnough = typeof needed === 'object' && 'anyOf' in needed
      for (const one of named) {
        const left = isOneEnough ? [one] : named.filter((permission) => permission !== one)
        expect(await isForbiddenWith([...left, ...deleting])).toBe(!isOneEnough)
      }
      expect(await isForbiddenWith([...named, ...deleting])).toBe(false)
    },
  ))

test('an API key with every permission that it can have makes no call for people and none about members', () =>
  everyRow(
    calls.map((call) => [call.name, call] as const),
    async (_name, call) => {
      actor = {
        ...owner,
        kind: 'api_key',
        sessionId: null,
        isOwner: false,
        permissions: new Set(apiKeyPermissions),
      }
      const code = await codeOf(call)
      const needed = call.endpoint.permission!
      if (needed === 'self' || needed === 'ownership') expect(code).toBe('api_key_not_allowed')
      else expect(code === 'permission_missing').toBe(/members:/.test(permissionsNamed(needed).join()))
    },
  ))

test('what concerns the API key of the call itself is for no person, and for every key', () =>
  everyRow(
    calls
      .filter(({ endpoint }) => endpoint.permission === 'api_key')
      .map((call) => [call.name, call] as const),
    async (_name, call) => {
      actor = owner
      expect(await isForbidden(call)).toBe(true)
      actor = { ...owner, kind: 'api_key', sessionId: null, isOwner: false, permissions: new Set() }
      expect(await isForbidden(call)).toBe(false)
    },
  ))

test('rejects what concerns all apps for an actor with some, and nothing else', () =>
  everyRow(
    calls.map((call) => [call.name, call] as const),
    async (_name, call) => {
      const { allApps, permission } = call.endpoint
      if (permission === 'api_key') return
      actor = { ...owner, apps: new Set(['app_1']) }
      expect(await isForbidden(call)).toBe(allApps !== undefined)
      if (allApps === 'without app') expect(await isForbidden(call, { query: '?app=one' })).toBe(false)
      if (/(billing|members):/.test(permissionsNamed(permission!).join())) expect(allApps).toBe(true)
    },
  ))

test('a part of a call that needs more is refused without it, and asks for its proof of identity', async () => {
  const parts = calls.flatMap((call) =>
    (call.endpoint.also ?? []).flatMap(({ fields = [], ...also }) =>
      fields.map((field) => ({ call, field, ...also })),
    ),
  )
  const released = { version: '1.0.0', releasedAt: '2026-01-01' }
  const further = {
    channel: 'beta',
    notes: 'New',
    updatesFrom: null,
    build: '7',
    security: null,
    artifacts: [],
  }
  const sent: Record<string, { without: object; parts: object }> = {
    'shops.update': { without: { name: 'New' }, parts: { secret: 'whsec_new', apiKey: 'sk_new' } },
    'releases.add': { without: released, parts: further },
  }
  expect(parts.map(({ call, field }) => `${call.name} ${field}`).toSorted()).toEqual(
    Object.entries(sent)
      .flatMap(([name, { parts }]) => Object.keys(parts).map((field) => `${name} ${field}`))
      .toSorted(),
  )
  for (const { call, field, permission, confirm } of parts) {
    // A permission that covers the part too is not all that the call takes.
    const granted = permissionsNamed(call.endpoint.permission!).filter((one) => !permission.includes(one))
    const { without, parts } = sent[call.name]!
    const body = { ...without, [field]: (parts as Record<string, unknown>)[field] }
    actor = { ...owner, permissions: new Set(granted), isOwner: false }
    expect(await isForbidden(call, { body })).toBe(true)
    expect(await codeOf(call, { body: without })).toBe('conflict')
    actor = { ...owner, permissions: new Set([...granted, ...permission]), isOwner: false }
    expect(await codeOf(call, { body })).toBe('conflict')
    actor = { ...actor, confirmedAt: 0 }
    expect(await codeOf(call, { body })).toBe(confirm ? 'confirm_identity' : 'conflict')
  }
})

test.each([
  ['bulk.licenses', 'licenses:write', ['licenses:delete']],
  ['bulk.clients', 'clients:write', ['clients:delete']],
  ['apps.remove', 'apps:write', ['licenses:delete', 'clients:delete']],
] as const)('%s deletes only with each permission to delete', async (name, needed, deleting) => {
  const call = calls.find((one) => one.name === name)
  if (!call) throw new Error(`there is no call ${name}`)
  const isRefused = (granted: readonly Permission[], action: string) => {
    actor = { ...owner, permissions: new Set(granted), isOwner: false }
    return isForbidden(call, name === 'apps.remove' ? {} : { body: { action, ids: ['one'] } })
  }
  expect(await isRefused([needed, ...deleting], 'delete')).toBe(false)
  for (const left of deleting) {
    const others = permissions.filter((permission) => permission !== left)
    expect(await isRefused(others, 'delete')).toBe(true)
  }
  if (name !== 'apps.remove') expect(await isRefused([needed], 'ban')).toBe(false)
})
