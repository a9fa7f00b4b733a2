/** What a server does with one request. */
export type Behaviour =
  /** Closes the connection: without an answer, or after half of one. */
  | { does: 'close' | 'halve' }
  /** Never answers. */
  | { does: 'hang' }
  | {
      /** `sign`: with the app's key. `forge`: with another one under the app's `kid`. */
      does: 'sign' | 'forge' | 'send'
      status: number
      /** JSON, or a text. */
      body?: unknown
      headers?: Record<string, string>
      /** Sends `Retry-After` as the date in so many seconds. */
      retryAtS?: number
    }

interface RetryCase {
  name: string
  method: string
  args: unknown[]
  /** The answers of the server to the call, in order; the last one repeats. `unreachable`: no server listens. */
  server: Behaviour[] | 'unreachable'
  /** `default`: the program passes none. */
  timeoutMs?: number | 'default'
  expect: {
    /** How often the call arrives, without `init`. */
    requests: number
    /** How often `init` arrives; 1 by default. */
    inits?: number
    /** How long it takes at least from the first request to the last. */
    leastMs?: number
    result?: { ok: boolean; code?: string }
    error?: { kind: string; code: string; status?: number; retryAfterMs?: number; outcomeUnknown?: boolean }
  }
}

const user = {
  _id: 'usr_1',
  username: 'ada',
  email: null,
  expiresAt: '2030-01-01T00:00:00.000Z',
  inGrace: false,
  term: 'date',
  createdAt: '2025-01-01T00:00:00.000Z',
  lastLoginAt: null,
  hwidBound: true,
  features: ['pro'],
  variables: {},
  updatesUntil: null,
  devices: { used: 1, limit: 1 },
  seat: null,
}
const success = { success: true, data: { user } }
const failure = (code: string) => ({ success: false, code, message: code })

const grant: Behaviour = { does: 'sign', status: 200, body: success }
const close: Behaviour = { does: 'close' }
const halve: Behaviour = { does: 'halve' }
const hang: Behaviour = { does: 'hang' }
const signed = (status: number, body: unknown, headers?: Record<string, string>): Behaviour => ({
  does: 'sign',
  status,
  body,
  ...(headers && { headers }),
})
const unsigned = (status: number, body: unknown = '', headers?: Record<string, string>): Behaviour => ({
  does: 'send',
  status,
  body,
  ...(headers && { headers }),
})
const wait = (seconds: string) => ({ 'retry-after': seconds })
const page = { 'content-type': 'text/html; charset=utf-8' }
const text = { 'content-type': 'text/plain; charset=UTF-8' }

const license = { method: 'license', args: ['KEY'] }
const register = { method: 'register', args: [{ username: 'ada', password: 'secret1', licenseKey: 'KEY' }] }

type Expected = RetryCase['expect']
type Failure = NonNullable<Expected['error']>
const granted = (requests: number, more: Partial<Expected> = {}): Expected => ({
  requests,
  result: { ok: true },
  ...more,
})
const failed = (requests: number, kind: string, code: string, facts: Partial<Failure> = {}): Expected => ({
  requests,
  error: { kind, code, ...facts },
})
const network = (requests: number, code: string, facts: Partial<Failure> = {}) =>
  failed(requests, 'network', code, facts)
const unknown = { outcomeUnknown: true }
const known = { outcomeUnknown: false }

const failures: [name: string, Behaviour][] = [
  ['a broken connection', close],
  ['half an answer', halve],
  ['an unsigned 502', unsigned(502, '<html>', page)],
  ['a signed 500', signed(500, failure('internal'))],
  ['a signed 503', signed(503, failure('busy'))],
]

/** Calls that have the same effect twice. */
const repeatable: [method: string, ...args: unknown[]][] = [
  ['login', { username: 'ada', password: 'secret1' }],
  ['trial', {}],
  ['session'],
  ['validate', 'KEY'],
  ['devices'],
]
const notRepeatable: [method: string, ...args: unknown[]][] = [
  ['upgrade', { username: 'ada', licenseKey: 'KEY' }],
  ['freeDevice', 'dev_1'],
]
const answerOf: Record<string, unknown> = {
  validate: { success: true, data: { valid: true, activated: true, license: { key: 'KEY' } } },
  devices: { success: true, data: { devices: [] } },
}

/** How often a call is sent, and how it ends. */
export const retries: RetryCase[] = [
  ...[
    ...failures,
    ['an unsigned 429', unsigned(429)] as const,
    ['a signed 429', signed(429, failure('busy'))] as const,
  ].map(
    ([name, behaviour]): RetryCase => ({
      name: `license after ${name}`,
      ...license,
      server: [behaviour, grant],
      expect: granted(2),
    }),
  ),
  ...repeatable.map(
    ([method, ...args]): RetryCase => ({
      name: `${method} after an unsigned 502`,
      method,
      args,
      server: [unsigned(502), signed(200, answerOf[method] ?? success)],
      expect: granted(2, method === 'validate' ? { inits: 0 } : {}),
    }),
  ),
  {
    name: 'license after two failures',
    ...license,
    server: [close, unsigned(502), grant],
    expect: granted(3, { leastMs: 700 }),
  },
  {
    name: 'license, which is sent at most three times',
    ...license,
    server: [unsigned(503)],
    expect: network(3, 'server_error', { status: 503, ...unknown }),
  },
  {
    name: 'license while connections break',
    ...license,
    server: [close],
    expect: network(3, 'connection_lost', unknown),
  },
  {
    name: 'license without a server',
    ...license,
    server: 'unreachable',
    expect: { ...network(0, 'unreachable', known), inits: 0 },
  },
  {
    name: 'register without a server',
    ...register,
    server: 'unreachable',
    expect: { ...network(0, 'unreachable', known), inits: 0 },
  },
  {
    name: 'license, which waits for Retry-After in seconds',
    ...license,
    server: [unsigned(503, '', wait('1')), grant],
    expect: granted(2, { leastMs: 1_240 }),
  },
  {
    name: 'license, which waits for Retry-After until a date',
    ...license,
    server: [{ does: 'send', status: 503, retryAtS: 3 }, grant],
    expect: granted(2, { leastMs: 2_000 }),
  },
  {
    name: 'license with a Retry-After that is a text',
    ...license,
    server: [unsigned(503, '', wait('soon')), grant],
    expect: granted(2),
  },
  {
    name: 'license with a Retry-After beyond its time',
    ...license,
    server: [unsigned(429, '', wait('900'))],
    expect: network(1, 'rate_limited', { status: 429, retryAfterMs: 900_000, ...unknown }),
  },
  {
    name: 'license with a signed Retry-After beyond its time',
    ...license,
    server: [signed(429, failure('rate_limited'), wait('900'))],
    expect: network(1, 'rate_limited', { status: 429, retryAfterMs: 900_000, ...known }),
  },
  {
    name: 'license with a server that never answers',
    ...license,
    server: [hang],
    timeoutMs: 12_000,
    expect: network(3, 'timed_out', unknown),
  },
  {
    name: 'license with a server that never answers, within the default time of 15 seconds',
    ...license,
    server: [hang],
    timeoutMs: 'default',
    expect: { ...network(3, 'timed_out', unknown), leastMs: 10_000 },
  },
  {
    name: 'license, which leaves time for a second attempt',
    ...license,
    server: [hang, grant],
    timeoutMs: 12_000,
    expect: granted(2),
  },
  ...failures.map(
    ([name, behaviour]): RetryCase => ({
      name: `register after ${name}`,
      ...register,
      server: [behaviour, grant],
      expect:
        behaviour.does === 'close' || behaviour.does === 'halve'
          ? network(1, 'connection_lost', unknown)
          : network(1, 'server_error', unknown),
    }),
  ),
  ...notRepeatable.map(
    ([method, ...args]): RetryCase => ({
      name: `${method} after an unsigned 502`,
      method,
      args,
      server: [unsigned(502), grant],
      expect: network(1, 'server_error', { status: 502, ...unknown }),
    }),
  ),
  {
    name: 'register with a server that never answers',
    ...register,
    server: [hang, grant],
    timeoutMs: 3_000,
    expect: network(1, 'timed_out', unknown),
  },
  {
    name: 'register after an unsigned 429, which a proxy may send after it lost the answer',
    ...register,
    server: [unsigned(429), grant],
    expect: network(1, 'rate_limited', { status: 429, ...unknown }),
  },
  {
    name: 'register after a signed 429, which precedes any work',
    ...register,
    server: [signed(429, failure('rate_limited')), grant],
    expect: granted(2),
  },
  ...(
    [
      ['a redirect', 'captive_portal', unknown, unsigned(302, '', { location: 'http://portal.invalid/' })],
      ['a web page', 'captive_portal', unknown, unsigned(200, '<html>Welcome</html>', page)],
      ['a page of an intercepting network', 'captive_portal', unknown, unsigned(511)],
      ['a missing path', 'wrong_address', known, unsigned(404)],
      ['a refused method', 'wrong_address', known, unsigned(405)],
      ['a server without the app', 'unknown_app', known, unsigned(403, failure('appDisabled'))],
      ['an unsigned success', 'blocked', unknown, unsigned(200, success)],
      ['an unsigned rejection', 'blocked', unknown, unsigned(403, failure('userBanned'))],
      ['the refusal of a content network', 'blocked', unknown, unsigned(403, 'error code: 1010', text)],
      ['the time-out of a gateway', 'blocked', unknown, unsigned(408)],
      ['an empty success', 'blocked', unknown, unsigned(200)],
    ] as const
  ).map(
    ([name, code, facts, behaviour]): RetryCase => ({
      name: `license after ${name}`,
      ...license,
      server: [behaviour, grant],
      expect: network(1, code, { status: 'status' in behaviour ? behaviour.status : 0, ...facts }),
    }),
  ),
  ...(
    [
      ['a body of another form', signed(200, { data: {} })],
      ['a failure with the status of a success', signed(200, failure('userBanned'))],
      ['a success with the status of a failure', signed(403, success)],
      ['a failure without a code', signed(403, { success: false, message: 'No' })],
      ['a success without a user', signed(200, { success: true, data: {} })],
      ['a list', signed(200, [success])],
      ['no JSON', signed(200, 'success')],
      ['an empty body', signed(200, '')],
    ] as const
  ).map(
    ([name, behaviour]): RetryCase => ({
      name: `license after ${name}`,
      ...license,
      server: [behaviour, grant],
      expect: network(1, 'unexpected_answer', unknown),
    }),
  ),
  {
    name: 'license after a signature of another key',
    ...license,
    server: [{ does: 'forge', status: 200, body: success }, grant],
    expect: failed(1, 'signature', 'bad_signature'),
  },
  {
    name: 'license after a 500 with a signature of another key',
    ...license,
    server: [{ does: 'forge', status: 500, body: success }, grant],
    expect: failed(1, 'signature', 'bad_signature'),
  },
  ...([['register', ...register.args], ...notRepeatable] as [method: string, ...args: unknown[]][]).map(
    ([method, ...args]): RetryCase => ({
      name: `${method} after the refusal of a content network, which may have lost an answer`,
      method,
      args,
      server: [unsigned(403, 'error code: 1010', text), grant],
      expect: network(1, 'blocked', { status: 403, ...unknown }),
    }),
  ),
  {
    name: 'license after a rejection',
    ...license,
    server: [signed(403, failure('userBanned')), grant],
    expect: { requests: 1, result: { ok: false, code: 'userBanned' } },
  },
  {
    name: 'license after a rejection of a newer server',
    ...license,
    server: [signed(403, failure('moonPhase')), grant],
    expect: { requests: 1, result: { ok: false, code: 'moonPhase' } },
  },
  {
    name: 'license after the end of its session, which opens another one',
    ...license,
    server: [signed(401, failure('sessionUnauthed')), grant],
    expect: granted(2, { inits: 2 }),
  },
  ...(
    [
      ['register', ...register.args],
      ['login', { username: 'ada', password: 'secret1' }],
      ['trial', {}],
      ['upgrade', { username: 'ada', licenseKey: 'KEY' }],
    ] as [method: string, ...args: unknown[]][]
  ).map(
    ([method, ...args]): RetryCase => ({
      name: `${method} after the end of its session, which opens another one`,
      method,
      args,
      server: [signed(401, failure('sessionUnauthed')), grant],
      expect: granted(2, { inits: 2 }),
    }),
  ),
  ...([['devices'], ['freeDevice', 'dev_1']] as [method: string, ...args: unknown[]][]).map(
    ([method, ...args]): RetryCase => ({
      name: `${method} after the end of its session, which is its result`,
      method,
      args,
      server: [signed(401, failure('sessionUnauthed')), signed(200, answerOf.devices)],
      expect: { requests: 1, result: { ok: false, code: 'sessionUnauthed' } },
    }),
  ),
  {
    name: 'license while every session has ended, which opens one more alone',
    ...license,
    server: [signed(401, failure('sessionUnauthed'))],
    expect: { requests: 2, inits: 2, result: { ok: false, code: 'sessionUnauthed' } },
  },
  {
    name: 'session after the end of its session, which has no user to restore',
    method: 'session',
    args: [],
    server: [signed(401, failure('sessionUnauthed')), grant],
    expect: { requests: 1, result: { ok: false, code: 'sessionUnauthed' } },
  },
]
