import fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { everyRow } from '../../test/every-row.ts'
import { type PersonActor, type ResellerActor, toOwnerActor, type VendorActor } from '../core/actor.ts'
import { minute } from '../core/clock.ts'
import { problem } from '../core/problem.ts'
import { createGates } from '../core/queues/gate.ts'
import { installErrors } from './errors.ts'
import { createMount } from './mount.ts'
import { allEndpoints, buildOpenApi } from './openapi.ts'
import { readNoBodies } from './server.ts'

const now = 1_800_000_000_000
const owner: PersonActor = toOwnerActor({
  accountId: 'acc_1',
  ownerId: 'own_1',
  sessionId: 'ses_1',
  address: '127.0.0.1',
})
const reseller: ResellerActor = {
  kind: 'reseller',
  ownerId: 'own_1',
  apps: null,
  resellerId: 'res_1',
  appId: 'app_1',
  sessionId: 'ses_2',
  address: '127.0.0.1',
  confirmedAt: 0,
  hasFactor: false,
}
type Identity = Pick<PersonActor, 'confirmedAt' | 'hasFactor'>
let identity: Identity
let asKey = false

const server = fastify()
installErrors(server)
readNoBodies(server)
const mount = createMount(server, {
  authenticators: {
    owner: async (): Promise<VendorActor> =>
      asKey ? { ...owner, kind: 'api_key', sessionId: null } : { ...owner, ...identity },
    reseller: async () => ({ ...reseller, ...identity }),
    customer: async () => undefined,
  },
  clock: { now: () => now },
  gates: createGates(),
  countStranger: () => undefined,
  budget: { check: () => undefined },
  once: async (actor, _keyed, work) => ({ answer: await work(actor), isRepeat: false }),
  attempts: { refuseUnread: () => undefined },
  checkAnswers: false,
})
const calls = allEndpoints.filter(({ endpoint }) => /^(owner|reseller)$/.test(endpoint.access))
for (const { endpoint } of calls) {
  mount(endpoint, endpoint.access as 'owner' | 'reseller', async () => {
    throw problem('conflict')
  })
}
afterAll(() => server.close())

async function isAsked({ endpoint }: (typeof calls)[number], session: Identity): Promise<boolean> {
  identity = session
  const answer = await server.inject({
    method: endpoint.method,
    url: `/api${endpoint.path.replace(/:\w+/g, 'one')}`,
    headers: { authorization: `Bearer ${'a'.repeat(40)}` },
  })
  const isRefused = answer.json().code === 'confirm_identity'
  if (isRefused) expect(answer.statusCode).toBe(403)
  return isRefused
}

const fresh = now - 10 * minute + 1
const old = now - 10 * minute
/** Made before the clock was set back. */
const ahead = now + 10 * minute

test('every call that declares it asks for a proof of identity, and no other', () =>
  everyRow(
    calls.map((call) => [call.name, call] as const),
    async (_name, call) => {
      const { confirm } = call.endpoint
      for (const confirmedAt of [old, ahead]) {
        expect(await isAsked(call, { confirmedAt, hasFactor: true })).toBe(confirm !== undefined)
        expect(await isAsked(call, { confirmedAt, hasFactor: false })).toBe(confirm === 'always')
      }
      expect(await isAsked(call, { confirmedAt: fresh, hasFactor: true })).toBe(false)
    },
  ))

test('an API key is never asked for a proof of identity', async () => {
  asKey = true
  const ofOwners = calls.filter(({ endpoint }) => endpoint.access === 'owner')
  for (const call of ofOwners) expect(await isAsked(call, { confirmedAt: 0, hasFactor: true })).toBe(false)
  asKey = false
})

test('these calls ask for a proof of identity', () => {
  const asking = calls.filter(({ endpoint }) => endpoint.confirm)
  expect(Object.fromEntries(asking.map(({ name, endpoint }) => [name, endpoint.confirm]))).toEqual({
    'apiKeys.create': 'always',
    'apiKeys.revoke': 'always',
    'apps.remove': 'with_factor',
    'apps.rotateSecret': 'with_factor',
    'licenses.removeAll': 'with_factor',
    'members.invite': 'always',
    'members.makeOwner': 'always',
    'members.remove': 'always',
    'members.update': 'always',
    'resellers.resetSecondFactor': 'always',
    'shops.create': 'always',
    'webhooks.create': 'always',
    'webhooks.rotateSecret': 'always',
    'secondFactor.beginTotp': 'always',
    'secondFactor.confirmTotp': 'always',
    'secondFactor.removeTotp': 'always',
    'secondFactor.passkeyOptions': 'always',
    'secondFactor.addPasskey': 'always',
    'secondFactor.removePasskey': 'always',
    'portalSecondFactor.beginTotp': 'always',
    'portalSecondFactor.confirmTotp': 'always',
    'portalSecondFactor.removeTotp': 'always',
    'portalSecondFactor.passkeyOptions': 'always',
    'portalSecondFactor.addPasskey': 'always',
    'portalSecondFactor.removePasskey': 'always',
  })
})

test('the documentation names the calls that ask for a proof of identity', () => {
  const { paths } = buildOpenApi() as { paths: Record<string, Record<string, Record<string, unknown>>> }
  for (const { endpoint } of calls) {
    const path = `/api${endpoint.path.replace(/:(\w+)/g, '{$1}')}`
    const operation = paths[path]?.[endpoint.method.toLowerCase()]
    expect(operation?.['x-confirm']).toBe(endpoint.confirm)
    const forbidden = JSON.stringify(
      (operation?.responses as Record<number, unknown> | undefined)?.[403] ?? '',
    )
    if (endpoint.confirm) expect(operation?.description).toContain('10 minutes')
    if (endpoint.confirm) expect(forbidden).toContain('confirm_identity')
  }
})
