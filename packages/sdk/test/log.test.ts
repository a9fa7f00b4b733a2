import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Keyward, type KeywardOptions, type LogEvent } from '../src/index.ts'
import { toKeyRing } from '../src/keys.ts'
import { type Call, Transport } from '../src/transport.ts'
import type { Fetch } from '../src/types.ts'
import { testKey, toPublic } from './signer.ts'
import {
  type Behaviour,
  plain,
  refuse,
  type StandIn,
  signed,
  startStandIn,
  succeed,
  user,
} from './stand-in.ts'

let server: StandIn
let events: LogEvent[]

beforeEach(async () => {
  server = await startStandIn()
  events = []
  for (const name of ['license', 'login', 'register', 'session']) server.on(name, succeed({ user }))
})
afterEach(() => server.close())

const connect = (options: Partial<KeywardOptions> = {}) =>
  new Keyward({
    baseUrl: server.baseUrl,
    publicKeys: server.publicKeys,
    appId: 'app12345',
    secret: 'the-secret',
    version: '1.0.0',
    hwid: 'the-hwid',
    log: (event) => events.push(event),
    ...options,
  })

const durationMs = expect.any(Number)
const keys = toKeyRing([toPublic(testKey)])
const send = (call: Call) =>
  new Transport({
    origin: server.baseUrl,
    prefix: '',
    appId: 'app12345',
    keys,
    fetch: globalThis.fetch as Fetch,
    log: (event) => events.push(event),
    random: () => 1,
    pause: async () => {},
  }).send(call, performance.now() + 10_000)
const session: Call = { method: 'GET', name: 'session', session: 'session-1', repeatable: true }

describe('the log hook', () => {
  it('gets the request and the answer of every call', async () => {
    await connect().license('KEY')
    expect(events).toEqual([
      { event: 'request', call: 'init', attempt: 1 },
      { event: 'response', call: 'init', attempt: 1, status: 200, durationMs },
      { event: 'request', call: 'license', attempt: 1 },
      { event: 'response', call: 'license', attempt: 1, status: 200, durationMs },
    ])
    for (const { durationMs = 0 } of events) expect(Number.isInteger(durationMs)).toBe(true)
  })

  it('gets code and reference of a refusal, also of validate', async () => {
    const refusal = { success: false, code: 'userBanned', message: 'No', reference: 'R-12345678' }
    server.on('session', (seen) => signed(seen, 403, refusal))
    const invalid = { valid: false, code: 'keyBanned', license: null, reference: 'R-87654321' }
    server.on('validate', succeed(invalid, 'No'))
    const keyward = connect()
    await keyward.session()
    await keyward.validate('KEY')
    expect(events.filter(({ code }) => code)).toEqual([
      {
        event: 'response',
        call: 'session',
        attempt: 1,
        status: 403,
        code: 'userBanned',
        reference: 'R-12345678',
        durationMs,
      },
      {
        event: 'response',
        call: 'validate',
        attempt: 1,
        status: 200,
        code: 'keyBanned',
        reference: 'R-87654321',
        durationMs,
      },
    ])
  })

  it('gets every retry with its pause, and the error that the program gets', async () => {
    const hangUp: Behaviour = (_, response) => void response.destroy()
    server.on('session', hangUp, plain(503))
    await expect(send(session)).rejects.toMatchObject({ code: 'server_error' })
    const call = 'session'
    expect(events).toEqual([
      { event: 'request', call, attempt: 1 },
      { event: 'retry', call, attempt: 1, code: 'connection_lost', durationMs, delayMs: 500 },
      { event: 'request', call, attempt: 2 },
      { event: 'retry', call, attempt: 2, status: 503, code: 'server_error', durationMs, delayMs: 1000 },
      { event: 'request', call, attempt: 3 },
      { event: 'failed', call, attempt: 3, status: 503, code: 'server_error', durationMs },
    ])
  })

  it('gets a forged answer as the reason that it was rejected for', async () => {
    server.on('session', plain(200, '', { signature: 'keyward=:AA' }))
    await expect(send(session)).rejects.toMatchObject({ code: 'malformed_signature' })
    expect(events.at(-1)).toEqual({
      event: 'failed',
      call: 'session',
      attempt: 1,
      status: 200,
      code: 'malformed_signature',
      durationMs,
    })
  })

  it('gets no id of a device', async () => {
    server.on('devices/dev_1', succeed({}))
    await connect().freeDevice('dev_1')
    expect(events.at(-1)).toMatchObject({ event: 'response', call: 'devices' })
    expect(JSON.stringify(events)).not.toContain('dev_1')
  })

  it('never gets a secret, a key, a token, a hardware id or a text of the answer', async () => {
    server.on('register', succeed({ user }, 'the-message'), refuse(403, 'userBanned', 'the-message'))
    const keyward = connect()
    const registration = { username: 'the-user', password: 'the-password', licenseKey: 'THE-KEY' }
    await keyward.register(registration)
    await keyward.register(registration)
    await keyward.login(registration)
    expect(events.length).toBeGreaterThan(6)
    const known = ['event', 'call', 'attempt', 'status', 'code', 'reference', 'durationMs', 'delayMs']
    for (const event of events) expect(known).toEqual(expect.arrayContaining(Object.keys(event)))
    expect(JSON.stringify(events)).not.toMatch(/the-|THE-|session-1|ada|Bearer|signature/i)
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('changes nothing if it %s', async (_, log) => {
    expect(await connect({ log }).license('KEY')).toMatchObject({ ok: true })
    server.on('session', refuse(403, 'userBanned'))
    expect(await connect({ log }).session()).toMatchObject({ ok: false, code: 'userBanned' })
  })

  it('must be a function', () => {
    expect(() => connect({ log: 'console' as never })).toThrow(
      expect.objectContaining({ name: 'KeywardUsageError', code: 'invalid_options' }),
    )
  })
})
