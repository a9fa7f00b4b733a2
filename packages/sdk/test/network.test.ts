import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Keyward, KeywardNetworkError } from '../src/index.ts'
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
let pauses: number[]

beforeEach(async () => {
  server = await startStandIn()
  pauses = []
})

afterEach(() => server.close())

const read: Call = { method: 'GET', name: 'session', session: 'session-1', repeatable: true }
const redeem: Call = { method: 'POST', name: 'register', body: {}, session: 'session-1', repeatable: false }
const genuine = succeed({ user })

function send(
  call: Call,
  { withinMs = 10_000, origin = server.baseUrl, fetch = globalThis.fetch as Fetch } = {},
) {
  const transport = new Transport({
    origin,
    prefix: '',
    appId: 'app12345',
    keys: toKeyRing([toPublic(testKey)]),
    fetch,
    random: () => 1,
    pause: async (ms) => void pauses.push(ms),
  })
  return transport.send(call, performance.now() + withinMs)
}

const hangUp: Behaviour = (_, response) => void response.destroy()
const silent: Behaviour = () => undefined
const cutOff: Behaviour = (seen) => {
  const prepared = signed(seen, 200, { success: true, data: { user } })
  return { ...prepared, headers: { ...prepared.headers, 'content-length': '9999' } }
}

/** Sends headers and half a body, then closes: a server that dies midway. */
const dieMidway: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('{"success":')
  response.socket?.end()
  return undefined
}

describe('a repeatable call', () => {
  it.each([
    ['a broken connection', hangUp],
    ['a truncated response', dieMidway],
    ['an unsigned 502', plain(502, '<html>')],
    ['a signed 500', refuse(500, 'internal')],
    ['an unsigned 429', plain(429)],
    ['a signed 429', refuse(429, 'busy')],
  ])('is retried after %s', async (_, failure) => {
    server.on('session', failure, genuine)
    expect((await send(read)).ok).toBe(true)
    expect(server.seen).toHaveLength(2)
    expect(server.seen[0]?.headers['keyward-nonce']).not.toBe(server.seen[1]?.headers['keyward-nonce'])
  })

  it('is sent at most three times with growing pauses', async () => {
    server.on('session', plain(503))
    await expect(send(read)).rejects.toMatchObject({
      name: 'KeywardNetworkError',
      code: 'server_error',
      status: 503,
      outcomeUnknown: true,
    })
    expect(server.seen).toHaveLength(3)
    expect(pauses).toEqual([500, 1000])
  })

  it('waits for Retry-After in seconds or until a date', async () => {
    server.on('session', plain(503, '', { 'retry-after': '2' }), genuine)
    await send(read)
    expect(pauses).toEqual([2500])
    server.on(
      'session',
      plain(503, '', { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }),
      genuine,
    )
    await send(read, { withinMs: 120_000 })
    expect(pauses[1]).toBeGreaterThan(30_000)
    expect(pauses[1]).toBeLessThanOrEqual(60_500)
  })

  it('is not retried if Retry-After exceeds the remaining time', async () => {
    server.on('session', plain(429, '', { 'retry-after': '900' }))
    await expect(send(read)).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 900_000 })
    expect(server.seen).toHaveLength(1)
  })

  it('leaves time for a second attempt if the first one hangs', async () => {
    server.on('session', silent, genuine)
    expect((await send(read, { withinMs: 6_000 })).ok).toBe(true)
  })
})

describe('a call that must not repeat', () => {
  it.each([
    ['a broken connection', hangUp, 'connection_lost'],
    ['a truncated response', dieMidway, 'connection_lost'],
    ['an unsigned 504', plain(504), 'server_error'],
    ['a signed 500', refuse(500, 'internal'), 'server_error'],
  ])('is not retried after %s and reports an unknown outcome', async (_, failure, code) => {
    server.on('register', failure, genuine)
    await expect(send(redeem)).rejects.toMatchObject({ code, outcomeUnknown: true })
    expect(server.seen).toHaveLength(1)
  })

  it('is not retried after a timeout', async () => {
    server.on('register', silent, genuine)
    await expect(send(redeem, { withinMs: 200 })).rejects.toMatchObject({
      code: 'timed_out',
      outcomeUnknown: true,
    })
    expect(server.seen).toHaveLength(1)
  })

  it('is not retried after an unsigned 429, which a proxy may send after losing the answer', async () => {
    server.on('register', plain(429), genuine)
    await expect(send(redeem)).rejects.toMatchObject({ code: 'rate_limited', outcomeUnknown: true })
    expect(server.seen).toHaveLength(1)
  })

  it('is retried after a signed 429, which precedes any work', async () => {
    server.on('register', refuse(429, 'rate_limited'), genuine)
    expect((await send(redeem)).ok).toBe(true)
    expect(server.seen).toHaveLength(2)
  })

  it('is retried if no connection was made', async () => {
    const closed = await startStandIn()
    await closed.close()
    await expect(send(redeem, { origin: closed.baseUrl })).rejects.toMatchObject({
      code: 'unreachable',
      outcomeUnknown: false,
    })
    expect(pauses).toHaveLength(2)
  })
})

describe('the timeout', () => {
  it('covers the whole call, including its session', async () => {
    server.on('init', silent)
    const { baseUrl, publicKeys } = server
    const options = { baseUrl, publicKeys, appId: 'app12345', secret: 'secret', version: '1.0.0', hwid: null }
    const started = performance.now()
    const call = new Keyward({ ...options, timeoutMs: 300 }).license('KEY')
    await expect(call).rejects.toThrow(KeywardNetworkError)
    await expect(call).rejects.toMatchObject({ code: 'timed_out' })
    expect(performance.now() - started).toBeLessThan(9_000)
  })

  it('covers a fetch that ignores its signal', async () => {
    const fetch: Fetch = () => new Promise(() => {})
    await expect(send(redeem, { withinMs: 100, fetch })).rejects.toMatchObject({ code: 'timed_out' })
  })

  it('covers a response that never ends', async () => {
    const endless: Behaviour = (_, response) => {
      response.writeHead(200)
      response.write('{')
      return undefined
    }
    server.on('register', endless)
    await expect(send(redeem, { withinMs: 200 })).rejects.toMatchObject({ code: 'timed_out' })
  })

  it('covers a response shorter than its declared length', async () => {
    server.on('register', cutOff)
    await expect(send(redeem, { withinMs: 500 })).rejects.toThrow(KeywardNetworkError)
  })
})

describe('an unsigned 429', () => {
  it('leaves the outcome unknown, because an attacker may have sent it', async () => {
    server.on('register', plain(429, '', { 'retry-after': '900' }))
    await expect(send(redeem)).rejects.toMatchObject({ code: 'rate_limited', outcomeUnknown: true })
  })
})
