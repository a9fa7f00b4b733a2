// On SQLite alone: what it asserts is decided before any SQL.
import { Readable } from 'node:stream'
import { type Access, type Endpoint, limits } from '@keyward/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '../../src/http/openapi.ts'
import { activateKey, makeApp, makePremium, refusal, signUp } from '../actors.ts'
import { openPage, signInByKey } from '../customer-actor.ts'
import { everyRow } from '../every-row.ts'
import { type Answer, startServer, type TestServer } from '../harness.ts'
import { makeReseller } from '../reseller-actor.ts'

let on: TestServer
let tokens: Record<'owner' | 'reseller' | 'customer' | 'session', string>
let appId: string
beforeAll(async () => {
  on = await startServer()
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner)
  appId = app.appId
  const { program, license } = await activateKey(on, owner, app)
  await openPage(owner, app)
  const customer = await signInByKey(on, app, license.key)
  const reseller = await makeReseller(on, owner, app)
  tokens = {
    owner: owner.token,
    reseller: reseller.token,
    customer: customer.token,
    session: program.session,
  }
})
afterAll(() => on.close())

const withAccess = (...access: Access[]) =>
  allEndpoints
    .filter(({ endpoint }) => access.includes(endpoint.access))
    .map(({ name, endpoint }) => [name, endpoint] as const)
const writing = ([, { method }]: readonly [string, Endpoint]) => method !== 'GET'

const missing = '00000000000000000000000000000000'
const pathOf = (endpoint: Endpoint) =>
  endpoint.path.replace(':appId', appId).replace(/:\w+/g, `none_${missing}`)
const tokenFor = ({ access }: Endpoint) =>
  access === 'public' || access === 'program' ? undefined : tokens[access]
const headersFor = ({ access }: Endpoint): Record<string, string> =>
  access === 'session' ? { 'keyward-app': appId } : {}

const callWith = (endpoint: Endpoint, token: string | undefined, body?: unknown): Promise<Answer> =>
  on.call(endpoint.method, pathOf(endpoint), { token, body, headers: headersFor(endpoint) })

/** Sends raw bytes with a token that may call the endpoint. */
async function sendBytes(endpoint: Endpoint, type: string, payload: string | Buffer | Readable) {
  const token = tokenFor(endpoint)
  const response = await on.server.inject({
    method: endpoint.method,
    url: `/api${pathOf(endpoint)}`,
    payload,
    headers: {
      'content-type': type,
      ...(payload instanceof Readable ? { 'transfer-encoding': 'chunked' } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headersFor(endpoint),
    },
  })
  return { status: response.statusCode, code: response.json().code }
}

test('every call of the contract is mounted', () =>
  everyRow(
    allEndpoints.map(({ name, endpoint }) => [name, endpoint] as const),
    (_name, endpoint) => {
      expect(on.server.hasRoute({ method: endpoint.method, url: `/api${endpoint.path}` })).toBe(true)
    },
  ))

/** Programs of another system call these in its own protocols: forms of any encoding, answers that are always 200. */
const ofOtherProtocols = /^\/api(\/apps\/:id)?\/1\.[0-3]\/?$/

/** Existing updaters read these in their own formats. */
const ofUpdaters = /^\/api\/updates\/:appId\/(electron|tauri|sparkle|velopack|json)\//

test('every route below /api is in the contract', () => {
  const known = new Set(allEndpoints.map(({ endpoint }) => `/api${endpoint.path}`))
  const routes = on.server.printRoutes({ commonPrefix: false, includeHooks: false })
  const paths = flatten(routes).filter((path) => path.startsWith('/api'))
  expect(paths.length).toBeGreaterThan(20)
  const others = paths.filter((path) => !known.has(path) && path !== '/api/openapi.json')
  expect(others.filter((path) => !ofOtherProtocols.test(path) && !ofUpdaters.test(path))).toEqual([])
})

/** The full paths in the tree that the router prints. */
function flatten(tree: string): string[] {
  const stack: string[] = []
  return tree.split('\n').flatMap((line) => {
    const found = /^((?:[│ ] {3})*)[├└]── (\S+)( \(([A-Z, ]+)\))?/.exec(line)
    if (!found) return []
    const depth = (found[1] ?? '').length / 4
    stack.length = depth
    stack[depth] = found[2] ?? ''
    return found[4] === undefined ? [] : [stack.join('')]
  })
}

describe('every call of an owner, a reseller or a customer', () => {
  const calls = withAccess('owner', 'reseller', 'customer')

  test('answers 401 without a token, even for a malformed body', () =>
    everyRow(calls, async (_name, endpoint) => {
      expect(refusal(await callWith(endpoint, undefined))).toBe('unauthorized')
      const broken = await on.server.inject({
        method: endpoint.method,
        url: `/api${pathOf(endpoint)}`,
        ...(endpoint.method === 'GET'
          ? {}
          : { payload: '{', headers: { 'content-type': 'application/json' } }),
      })
      expect(broken.statusCode).toBe(401)
    }))

  test('rejects every other kind of token', () =>
    everyRow(calls, async (_name, endpoint) => {
      for (const [kind, token] of Object.entries(tokens)) {
        if (kind !== endpoint.access) expect(refusal(await callWith(endpoint, token))).toBe('unauthorized')
      }
    }))
})

test('every call of a program session accepts no other token', () =>
  everyRow(withAccess('session'), async (_name, endpoint) => {
    for (const token of [undefined, tokens.owner, tokens.reseller, tokens.customer]) {
      expect(refusal(await callWith(endpoint, token, {}))).toBe('sessionUnauthed')
    }
  }))

describe('the body of every call', () => {
  // Hooks read bytes, whatever they are.
  const calls = withAccess('public', 'owner', 'reseller', 'customer', 'program', 'session').filter(
    (call) => writing(call) && !call[1].raw,
  )

  // The provider may add fields to its events, so the webhook accepts unknown ones.
  test('rejects unknown fields', () =>
    everyRow(calls, async (_name, endpoint) => {
      const answer = await callWith(endpoint, tokenFor(endpoint), { 'unknown-field': 1 })
      expect(refusal(answer)).toBe('invalid_input')
      expect(answer.json.errors.map((issue: { path: string }) => issue.path)).toContain('unknown-field')
    }))

  test('must be a JSON object', () =>
    everyRow(calls, async (_name, endpoint) => {
      const send = (type: string, payload: string) => sendBytes(endpoint, type, payload)
      expect(await send('application/json', '{"a":')).toEqual({ status: 400, code: 'invalid_json' })
      expect(await send('application/json', '{"__proto__":{}}')).toEqual({
        status: 400,
        code: 'invalid_json',
      })
      expect(await send('application/json', '["a"]')).toEqual({ status: 400, code: 'invalid_input' })
      expect(await send('text/plain', 'a')).toEqual({ status: 415, code: 'unsupported_media_type' })
      expect(await send('application/x-www-form-urlencoded', 'a=b')).toEqual({
        status: 415,
        code: 'unsupported_media_type',
      })
    }))

  test('is rejected beyond its limit before parsing, with declared and chunked length', () =>
    everyRow(calls, async (_name, endpoint) => {
      const limit = endpoint.bodyLimit ?? limits.bodyBytesMax
      const tooLarge = { status: 413, code: 'payload_too_large' }
      const broken = '{'.repeat(limit)
      const fits = await sendBytes(endpoint, 'application/json', broken)
      expect(fits).toEqual({ status: 400, code: 'invalid_json' })
      expect(await sendBytes(endpoint, 'application/json', `${broken}{`)).toEqual(tooLarge)
      expect(await sendBytes(endpoint, 'application/json', Readable.from([broken, '{']))).toEqual(tooLarge)
    }))
})

test.each(['gzip', 'br', 'identity, gzip'])('rejects the content encoding %s', async (encoding) => {
  const payload = { email: 'a@example.com', password: 'x' }
  const headers = { 'content-encoding': encoding }
  const answer = await on.call('POST', '/auth/login', { body: payload, headers })
  expect(refusal(answer)).toBe('unsupported_media_type')
})

test.each([
  'text/plain',
  'application/xml',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'invalid type',
])('treats an empty body of type %s as an empty object', async (type) => {
  const settings = { method: 'PUT', path: '/settings', access: 'owner' } as Endpoint
  expect(await sendBytes(settings, type, '')).toEqual({ status: 400, code: 'invalid_input' })
  const toggle = { ...settings, method: 'PATCH', path: `/licenses/lic_${missing}/toggle-ban` } as Endpoint
  expect(await sendBytes(toggle, type, '')).toEqual({ status: 404, code: 'not_found' })
})
