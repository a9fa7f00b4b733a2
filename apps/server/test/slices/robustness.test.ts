// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { connect } from 'node:net'
import { messageDefaults } from '@keyward/contract'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeApp, refusal, signUp, startProgram } from '../actors.ts'
import { ownerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'

const on = serverForAll(
  {},
  { timeouts: { requestMs: 1500, headersMs: 1000, keepAliveMs: 500, checkEveryMs: 50 } },
)
const owner = ownerForAll(on)

// At the same time, because most of them wait for a limit.
describe.concurrent('a slow request', () => {
  let port: number
  beforeAll(async () => {
    await on.server.listen({ port: 0, host: '127.0.0.1' })
    const [address] = on.server.addresses() as { port: number }[]
    port = address?.port ?? 0
  })

  /** Sends `beginning`, then `drop` every 20 ms until the server closes the connection; returns what it received. */
  async function drip(beginning: string, drop: string): Promise<string> {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (data) => {
      received += data
    })
    socket.on('error', () => {})
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.write(beginning)
    const dripping = setInterval(() => socket.write(drop), 20)
    await closed
    clearInterval(dripping)
    return received
  }

  const start = 'POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n'

  test.each([
    ['headers', start, 'X-A: b\r\n'],
    ['body', `${start}Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n{"email":"`, 'x'],
  ])('with endless %s gets 408 and is closed', async (_part, beginning, drop) => {
    expect(await drip(beginning, drop)).toMatch(/^HTTP\/1.1 408 /)
  })

  test.each([
    ['sends nothing', '', '', /^$/],
    ['sends only empty lines', '\r\n', '\r\n', /^HTTP\/1.1 408 /],
    ['sends half a line', 'POST', '', /^HTTP\/1.1 408 /],
    ['is silent after a response', 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n', '', /"up"}}$/],
    [
      'sends empty lines after a response',
      'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
      '\r\n',
      /"up"}}$/,
    ],
  ])('closes a connection that %s', async (_what, beginning, drop, answer) => {
    expect(await drip(beginning, drop)).toMatch(answer)
  })

  test.each([
    [16, 16],
    [17, 0],
    [1000, 0],
  ])('sends %i pipelined requests and gets %i answers', async (sent, answered) => {
    const request = 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const received = await drip(request.repeat(sent), '')
    expect(received.split('"up"').length - 1).toBe(answered)
  })

  test('does not delay other requests', async () => {
    const slow = drip(start, 'X-A: b\r\n')
    const answer = await fetch(`http://127.0.0.1:${port}/api/health`)
    expect(await answer.json()).toEqual({ success: true, data: { status: 'up' } })
    await slow
  })

  test('is rejected with headers beyond 16 kB', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/health`, {
      headers: { 'x-long': 'x'.repeat(17_000) },
    })
    expect(answer.status).toBe(431)
  })
})

test('health, readiness and console configuration are public and contain no secret', async () => {
  expect((await on.call('GET', '/health')).json.data).toEqual({ status: 'up' })
  for (const path of ['/ready', '/ready?for=checks', '/ready?for=writes'])
    expect((await on.call('GET', path)).json.data).toEqual({ status: 'ready' })
  expect(refusal(await on.call('GET', '/ready?for=coffee'))).toBe('invalid_input')
  const { data } = (await on.call('GET', '/config')).json
  const { plans } = (await owner.call('GET', '/payments/pricing')).json.data
  expect(data).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    publicUrl: null,
    registration: 'open',
    passwordPolicy: 'basic',
    passwordReset: 'operator',
    payments: 'mock',
    vpnRanges: false,
    development: true,
    pricing: plans,
    links: { shipping: null, refund: null, paymentTerms: null, community: null, videos: null },
  })
})

test.each(['/nothing', '/apps/x/y/z', '/client/nothing', '/%E0%A4%A', `/apps/${'x'.repeat(300)}`])(
  'answers not_found as JSON for the unknown path /api%s',
  async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await on.call(method, path, { token: owner.token })
      expect(answer.status).toBe(404)
      expect(answer.json).toEqual({ success: false, code: 'not_found', message: 'Not found' })
    }
  },
)

test('API responses forbid caching', async () => {
  const app = await makeApp(owner)
  for (const answer of [
    await owner.call('GET', '/apps'),
    await on.call('GET', '/apps'),
    await on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: 'x' } }),
  ]) {
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  }
})

describe('an unexpected error', () => {
  test('returns only a request id; the cause stays in the log', async () => {
    const own = await startServer()
    try {
      const vendor = await signUp(own)
      const app = await makeApp(vendor)
      const program = await startProgram(own, app)
      await sql`alter table daily_counts rename to elsewhere`.execute(own.database.db)
      const answer = await vendor.call('GET', '/activity/days')
      expect(answer.status).toBe(500)
      expect(answer.json).toEqual({
        success: false,
        code: 'internal',
        message: 'Something went wrong on the server',
        requestId: answer.headers['x-request-id'],
      })
      await sql`alter table clients rename to nowhere`.execute(own.database.db)
      const refused = await program.call('POST', '/login', { username: 'abc', password: 'x' })
      expect(refused.json).toMatchObject({ code: 'internal', requestId: refused.headers['x-request-id'] })
      expect(Object.keys(refused.json).sort()).toEqual(['code', 'message', 'requestId', 'success'])
    } finally {
      await own.close()
    }
  })

  test('in the database makes the server not ready but still healthy', async () => {
    const own = await startServer()
    await own.database.close()
    try {
      const code = own.database.dialect === 'postgres' ? 'database_unavailable' : 'unavailable'
      expect(refusal(await own.call('GET', '/ready'))).toBe(code)
      expect(refusal(await own.call('GET', '/ready?for=checks'))).toBe(code)
      expect((await own.call('GET', '/health')).status).toBe(200)
    } finally {
      await own.server.close().catch(() => {})
    }
  })
})

test.each([
  ['/auth/login', '{"email":', '}'],
  ['/client/validate', '{"appId":', '}'],
  ['/client/init', '', ''],
])('rejects a body of %s with eight thousand nested arrays as invalid', async (path, head, tail) => {
  const answer = await on.server.inject({
    method: 'POST',
    url: `/api${path}`,
    headers: { 'content-type': 'application/json' },
    payload: `${head}${'['.repeat(8000)}${']'.repeat(8000)}${tail}`,
  })
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ success: false, code: 'invalid_input' })
})

describe('a validation error stays small', () => {
  const refuse = async (path: string, body: unknown, token?: string) => {
    const answer = await on.call('POST', path, { body, token })
    expect(refusal(answer)).toBe('invalid_input')
    expect(answer.raw.length).toBeLessThan(4000)
    return answer.json as { message: string; errors: { path: string; message: string }[] }
  }
  const fields = (count: number, name = 'field') =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, 1]))

  test('names ten unknown fields and counts the rest', async () => {
    const { message, errors } = await refuse('/auth/logout', fields(900), owner.token)
    expect(message).toBe(
      `Unknown field: ${Array.from({ length: 10 }, (_, at) => `field${at}`).join(', ')} and 890 more`,
    )
    expect(errors).toHaveLength(1)
  })

  test('truncates long names', async () => {
    await refuse('/auth/logout', fields(10, 'x'.repeat(1500)), owner.token)
    await refuse('/auth/logout', { ['y'.repeat(16_000)]: '\u0000' }, owner.token)
  })

  test('reports ten issues', async () => {
    const ids = Array.from({ length: 200 }, () => 1)
    const { errors } = await refuse('/licenses/bulk', { action: 'ban', ids }, owner.token)
    expect(errors).toHaveLength(10)
    const texts = Object.fromEntries(Object.keys(messageDefaults).map((key) => [key, '']))
    const answer = await owner.call('PUT', '/apps/none/error-messages', texts)
    expect(answer.json.errors).toHaveLength(10)
  })

  test.each([
    ['a long list', Array.from({ length: 5000 }, () => ({}))],
    ['many fields', fields(1100)],
    ['lists in lists', Array.from({ length: 70 }, () => Array.from({ length: 70 }, () => 1))],
  ])('stops after a thousand values for %s', async (_shape, value) => {
    const { errors } = await refuse('/auth/login', { email: value })
    expect(errors).toEqual([{ path: '', message: 'More than 1000 values' }])
  })

  test('rejects a query with thousands of names', async () => {
    const names = Array.from({ length: 2500 }, (_, at) => `a${at}`).join('&')
    const answer = await owner.call('GET', `/licenses?${names}`)
    expect(answer.json.errors).toEqual([{ path: '', message: 'More than 1000 values' }])
  })
})

test('no text from a program or an owner causes a server error', async () => {
  const app = await makeApp(owner, 'Hostile')
  await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  const program = await startProgram(on, app)
  const texts = [
    '\u0000',
    'a\u0000bc',
    '\ud800',
    'a\ud800bc',
    "'; drop table licenses;--",
    '"',
    '\\',
    '%',
    '\u202e',
    '\uffff',
    '𝒳𝒳𝒳',
  ]
  for (const text of texts) {
    const answers = [
      await program.call('POST', '/login', { username: text, password: text, hwid: text }),
      await program.call('POST', '/license', { licenseKey: text, hwid: text }),
      await program.call('POST', '/upgrade', { username: text, licenseKey: text }),
      await program.call('POST', '/register', {
        username: `${text}abc`,
        password: `${text}123456`,
        licenseKey: text,
      }),
      await on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: text, hwid: text } }),
      await on.call('POST', '/client/validate', { body: { appId: text, licenseKey: text } }),
      await on.call('POST', '/client/init', { body: { appId: text, secret: text, version: text } }),
      await on.call('POST', '/auth/login', { body: { email: `${text}@example.com`, password: text } }),
      await owner.call('PUT', `/apps/${app._id}/error-messages`, { keyUsed: text }),
      await owner.call('POST', '/licenses', { app: text, expiresAt: '2030-01-01' }),
      await owner.call('POST', '/licenses', { app: app._id, expiresAt: '2030-01-01', note: text }),
    ]
    if (!/\p{Cs}/u.test(text)) {
      answers.push(await owner.call('GET', `/licenses?search=${encodeURIComponent(`${text}x`)}`))
      answers.push(await owner.call('GET', `/clients?search=${encodeURIComponent(text)}`))
      answers.push(await owner.call('GET', `/clients?app=${encodeURIComponent(text)}`))
      answers.push(await owner.call('GET', `/apps/${encodeURIComponent(text)}`))
    }
    expect({
      text,
      statuses: answers.map((answer) => answer.status).filter((status) => status >= 500),
    }).toEqual({
      text,
      statuses: [],
    })
  }
})
