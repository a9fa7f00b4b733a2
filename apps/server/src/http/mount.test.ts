import { isBudgeted, searchesText } from '@keyward/contract'
import fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { everyRow } from '../../test/every-row.ts'
import { type ResellerActor, toOwnerActor } from '../core/actor.ts'
import { systemClock } from '../core/clock.ts'
import { problem, rateLimited } from '../core/problem.ts'
import { createGates } from '../core/queues/gate.ts'
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
const reseller: ResellerActor = {
  ...{ kind: 'reseller', ownerId: 'own_1', apps: null, resellerId: 'res_1', appId: 'app_1' },
  ...{ sessionId: 'ses_2', address: '127.0.0.1', confirmedAt: Date.now() },
}

const server = fastify()
readNoBodies(server)
const mount = createMount(server, {
  authenticators: {
    owner: async () => owner,
    reseller: async () => reseller,
    customer: async () => undefined,
  },
  clock: systemClock,
  gates: createGates(),
  countStranger: () => undefined,
  budget: { check: () => Promise.reject(rateLimited(1000)) },
  attempts: { refuseUnread: () => undefined },
  once: async (actor, _keyed, work) => ({ answer: await work(actor), isRepeat: false }),
  checkAnswers: false,
})
const calls = allEndpoints.filter(({ endpoint }) => /^(owner|reseller)$/.test(endpoint.access))
for (const { endpoint } of calls) {
  mount(endpoint, endpoint.access as 'owner' | 'reseller', async () => {
    throw problem('conflict')
  })
}
afterAll(() => server.close())

test('a call that changes something is refused once its account has used up its budget, unless it declares why not', () =>
  everyRow(
    calls.map((call) => [call.name, call] as const),
    async (_name, { endpoint }) => {
      const { method, path, permission, unbudgeted } = endpoint
      if (permission === 'api_key') return
      const answer = await server.inject({
        method,
        url: `/api${path.replace(/:\w+/g, 'one')}`,
        headers: { authorization: `Bearer ${'a'.repeat(40)}` },
      })
      const isSpending = method !== 'GET' && unbudgeted === undefined
      expect(answer.json().code === 'rate_limited').toBe(isSpending)
      expect(isBudgeted(endpoint)).toBe(isSpending)
    },
  ))

test('what needs no budget concerns the own account or is a payment', () => {
  const unbudgeted = allEndpoints.filter(({ endpoint }) => endpoint.unbudgeted !== undefined)
  for (const { name, endpoint } of unbudgeted) {
    const { access, permission, path } = endpoint
    const isOwn =
      permission === 'self' ||
      (access === 'reseller' && /^\/resellers\/auth\/(logout|sessions|confirm)(\/|$)/.test(path))
    expect([name, endpoint.unbudgeted]).toEqual([name, isOwn ? 'own account' : 'payment'])
    expect(isOwn || permission === 'billing:write', name).toBe(true)
  }
})

test('a call declares the fields by which its steps judge it', () => {
  for (const { name, endpoint } of allEndpoints) {
    const fieldsOf = (schema: unknown) => Object.keys((schema as { shape?: object } | undefined)?.shape ?? {})
    expect(searchesText(endpoint), name).toBe(fieldsOf(endpoint.query).includes('search'))
    expect(endpoint.dryRun === true, name).toBe(fieldsOf(endpoint.body).includes('dryRun'))
    expect(endpoint.appField !== undefined, name).toBe(endpoint.allApps === 'without app')
    if (endpoint.appField) expect(fieldsOf(endpoint.query)).toContain(endpoint.appField)
  }
  const bulk = allEndpoints.filter(({ endpoint }) => endpoint.actionField !== undefined)
  expect(bulk.map(({ name }) => name)).toEqual(['bulk.licenses', 'bulk.clients'])
})
