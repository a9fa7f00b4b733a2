// On SQLite alone: what it asserts is decided before any SQL.
import { type IncomingMessage, METHODS } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { refusal } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'

const on = serverForAll()

const paths = ['/api/health', '/api/apps', '/api/client/session', '/api/nothing', '/docs', '/dashboard']
const routerErrors = ['/api/%E0%A4%A', `/api/apps/${'x'.repeat(300)}`]

describe('behind https', () => {
  const secure = serverForAll({ PUBLIC_URL: 'https://licenses.example.com', RATE_LIMITS: 'on' })

  test.each([...paths, ...routerErrors])('%s has HSTS and nosniff', async (url) => {
    const { headers } = await secure.server.inject({ url })
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

test('HSTS includes subdomains if the operator asks for it', async () => {
  const environment = { PUBLIC_URL: 'https://licenses.example.com', RATE_LIMITS: 'on', HSTS_SUBDOMAINS: 'on' }
  const own = await startServer(environment)
  try {
    for (const url of [...paths, ...routerErrors]) {
      const { headers } = await own.server.inject({ url })
      expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains')
    }
  } finally {
    await own.close()
  }
})

test.each([...paths, ...routerErrors])('%s has nosniff and no HSTS without https', async (url) => {
  const { headers } = await on.server.inject({ url })
  expect(headers['strict-transport-security']).toBeUndefined()
  expect(headers['x-content-type-options']).toBe('nosniff')
})

describe('a method that a known path does not support', () => {
  const unknown = METHODS.filter((method) => !['GET', 'HEAD', 'POST', 'CONNECT'].includes(method))

  test.each(unknown)('%s answers 405 and lists the supported methods', async (method) => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await on.server.inject({ method: method as 'GET', url: '/api/apps?limit=1', headers })
      expect(answer.statusCode).toBe(405)
      expect(answer.headers.allow).toBe('GET, HEAD, POST')
      expect(answer.json()).toMatchObject({ success: false, code: 'method_not_allowed' })
    }
  })

  test.each([
    ['QUERY', '/api/apps/some-id', 'DELETE, GET, HEAD, PUT'],
    ['GET', '/api/apps/some-id/rotate-secret', 'POST'],
    ['POST', '/api/client/apps/some-id/keys', 'GET, HEAD'],
    ['GET', '/api/client/validate', 'POST'],
    ['POST', '/dashboard', 'GET, HEAD'],
    ['OPTIONS', '/docs', 'GET, HEAD'],
  ])('%s %s answers 405 with Allow: %s', async (method, url, allow) => {
    const answer = await on.server.inject({ method: method as 'GET', url })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow])
  })

  test('an unknown path answers 404 for every method', async () => {
    for (const method of unknown) {
      const answer = await on.server.inject({ method: method as 'GET', url: '/api/apps/a/b/c' })
      expect(answer.statusCode).toBe(404)
    }
  })
})

describe('while payments are simulated or limits are off', () => {
  const simulated = [
    ['payments', {}, { RATE_LIMITS: 'on' }],
    ['limits', {}, { RATE_LIMITS: 'off', PAYMENTS: 'off' }],
  ] as const
  describe.each(simulated)('(%s)', (_what, _none, environment) => {
    const own = serverForAll(environment)

    test.each([
      'forwarded',
      'via',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-port',
      'x-forwarded-proto',
      'x-forwarded-server',
      'x-real-ip',
      'x-client-ip',
      'true-client-ip',
      'cf-connecting-ip',
      'cdn-loop',
    ])('rejects a request with the header %s', async (name) => {
      for (const path of ['/health', '/config', '/client/apps/ZZZZZZZZ/keys']) {
        const answer = await own.call('GET', path, { headers: { [name]: '10.0.0.1' } })
        expect(refusal(answer)).toBe('forwarded_refused')
      }
      expect((await own.server.inject({ url: '/auth', headers: { [name]: '10.0.0.1' } })).statusCode).toBe(
        400,
      )
    })

    test.each([
      ['host', 'licenses.example.com'],
      ['host', 'licenses.example.com:3000'],
      ['host', '192.168.0.7:3000'],
      ['host', 'localhost.example.com'],
      ['host', '127.0.0.1.example.com'],
      ['origin', 'https://licenses.example.com'],
      ['origin', 'http://localhost.example.com'],
      ['origin', 'null'],
    ])('rejects a request with %s %s', async (name, value) => {
      const answer = await own.call('GET', '/config', { headers: { [name]: value } })
      expect(refusal(answer)).toBe('forwarded_refused')
    })

    test.each(['localhost', 'localhost:3000', 'LOCALHOST', '127.0.0.1:3000', '127.8.9.10', '[::1]:3000'])(
      'answers a request to %s',
      async (host) => {
        const headers = { host, origin: `http://${host}` }
        expect((await own.call('GET', '/config', { headers })).status).toBe(200)
      },
    )
  })

  test('rejects HTTP/1.0, the default of nginx towards servers', async () => {
    const own = await startServer({ RATE_LIMITS: 'on' })
    try {
      const port = Number(new URL(await own.server.listen({ port: 0, host: '127.0.0.1' })).port)
      const answerTo = (version: string): Promise<string> => {
        const socket = connect(port, '127.0.0.1')
        socket.write(
          `GET /api/health HTTP/${version}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
        )
        return text(socket)
      }
      expect(await answerTo('1.0')).toContain('forwarded_refused')
      expect(await answerTo('1.1')).toContain('"status":"up"')
    } finally {
      await own.close()
    }
  })

  test('a refused browser gets a page that names the settings, a program JSON, and the log one line', async () => {
    const lines: { level: number; msg: string }[] = []
    const log = { write: (line: string) => void lines.push(JSON.parse(line)) }
    const own = await startServer({ RATE_LIMITS: 'on' }, { logLevel: 'warn', log })
    try {
      const headers = { 'x-forwarded-for': '203.0.113.7', accept: 'text/html,*/*;q=0.8' }
      const settings = ['PUBLIC_URL', 'TRUST_PROXY', 'PAYMENTS=mock', 'RATE_LIMITS=off']
      const [page, api, program] = [
        await own.server.inject({ url: '/dashboard', headers }),
        await own.server.inject({ url: '/api/health', headers }),
        await own.server.inject({ url: '/', headers: { ...headers, accept: '*/*' } }),
      ]
      expect([page, api, program].map(({ statusCode }) => statusCode)).toEqual([400, 400, 400])
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
      for (const name of settings) expect(page.payload).toContain(name)
      for (const answer of [api, program]) {
        expect(answer.json().code).toBe('forwarded_refused')
        for (const name of settings) expect(answer.json().message).toContain(name)
      }
      expect(lines).toEqual([expect.objectContaining({ level: 40, msg: api.json().message })])
    } finally {
      await own.close()
    }
  })

  test('an instance without simulation answers every host name and through proxies', async () => {
    const own = await startServer({ RATE_LIMITS: 'on', PAYMENTS: 'off' })
    try {
      const headers = { host: 'licenses.example.com', origin: 'https://other.example.com', via: '1.1 proxy' }
      expect((await own.call('GET', '/config', { headers })).status).toBe(200)
    } finally {
      await own.close()
    }
  })
})

describe('over the network', () => {
  /** Starts a server that logs to a list; `send` writes raw bytes to it over a socket. */
  async function startLogging() {
    const lines: { level: number; status?: number }[] = []
    const own = await startServer(
      {},
      {
        logLevel: 'info',
        log: { write: (line: string) => void lines.push(JSON.parse(line)) },
      },
    )
    const url = await own.server.listen({ port: 0, host: '127.0.0.1' })
    const send = (bytes: string) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.on('error', () => {})
      socket.write(bytes)
      return socket
    }
    return { own, lines, send }
  }

  test('a request is logged once, with its id, its route and its status, and without secrets of it', async () => {
    const { own, lines } = await startLogging()
    try {
      const body = { email: 'missing@example.com', password: 'hunter2 hunter2' }
      const { headers } = await own.call('POST', '/auth/login?token=hunter2', { body, token: 'hunter2' })
      const logged = lines.filter((line) => line.status !== undefined)
      expect(logged).toMatchObject([
        { reqId: headers['x-request-id'], method: 'POST', url: '/api/auth/login', status: 401 },
      ])
      expect(JSON.stringify(lines)).not.toContain('hunter2')
    } finally {
      await own.close()
    }
  })

  test('an aborted upload is not logged as an error', async () => {
    const { own, lines, send } = await startLogging()
    try {
      const requests: IncomingMessage[] = []
      own.server.server.on('request', (request) => requests.push(request))
      const head = 'POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
      const sockets = ['Content-Length: 100', 'Transfer-Encoding: chunked'].map((framing) =>
        send(`${head}${framing}\r\n\r\n1\r\n{\r\n`),
      )
      await eventually(() => expect(requests).toHaveLength(2))
      for (const socket of sockets) socket.destroy()
      await eventually(() => expect(requests.every((request) => request.closed)).toBe(true))
      await own.server.inject('/api/health')
      expect(lines.filter(({ level }) => level > 30)).toEqual([])
    } finally {
      await own.close()
    }
  })

  test.each([
    ['a request that is not HTTP', 'no http at all\r\n\r\n', 400, 'bad_request'],
    [
      'headers beyond 16 kB',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
  ])('answers %s in the standard error format', async (_what, bytes, status, code) => {
    const { own, send } = await startLogging()
    try {
      const socket = send(bytes)
      let received = ''
      socket.on('data', (data) => {
        received += data
      })
      await new Promise<void>((resolve) => socket.once('close', () => resolve()))
      const [head = '', body = ''] = received.split('\r\n\r\n')
      expect(head).toContain(`HTTP/1.1 ${status} `)
      expect(head).toContain('x-content-type-options: nosniff')
      expect(JSON.parse(body)).toMatchObject({ success: false, code })
    } finally {
      await own.close()
    }
  })
})
