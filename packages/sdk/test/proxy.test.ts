import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { selfSigned } from '../../../apps/server/test/self-signed.ts'
import { Keyward, type KeywardOptions } from '../src/index.ts'
import { checkOptions } from '../src/options.ts'
import { type Call, Transport } from '../src/transport.ts'
import { sdk } from '../src/version.ts'
import { type StandIn, signed, startStandIn, succeed, user } from './stand-in.ts'
import { startProxy, startTcp, startTlsFront } from './stand-in-proxy.ts'

const closing: (() => Promise<unknown>)[] = []
const closed = <T extends { close(): Promise<unknown> }>(one: T): T => {
  closing.push(() => one.close())
  return one
}

let server: StandIn
let secureUrl: string
const trusted = getCACertificates('default')

beforeEach(async () => {
  server = closed(await startStandIn())
  server.on('session', succeed({ user }))
  server.on('register', succeed({ user }))
  const certificate = selfSigned()
  setDefaultCACertificates([...trusted, certificate.cert])
  const front = closed(await startTlsFront(server.baseUrl, certificate))
  secureUrl = `https://localhost:${front.port}`
})
afterEach(async () => {
  setDefaultCACertificates(trusted)
  for (const close of closing.splice(0)) await close()
})

const defaults = (): KeywardOptions => ({
  baseUrl: server.baseUrl,
  publicKeys: server.publicKeys,
  appId: 'app12345',
  secret: 's',
  version: '1.0.0',
  hwid: 'hw-1',
  timeoutMs: 5_000,
})
const connect = (options: Partial<KeywardOptions>) => new Keyward({ ...defaults(), ...options })
const registration = { username: 'ada', password: 'secret', licenseKey: 'KEY' }
/** The error of a call whose pauses between attempts are skipped. */
function fails(options: Partial<KeywardOptions>) {
  const checked = checkOptions({ ...defaults(), ...options })
  const transport = new Transport({ ...checked, pause: async () => {} })
  const call: Call = { method: 'POST', name: 'init', body: {}, repeatable: true }
  return transport.send(call, performance.now() + checked.timeoutMs).then(
    () => expect.unreachable('the call must fail'),
    (error) => error,
  )
}

describe('a proxy', () => {
  it('tunnels https, and gets credentials that the server never sees', async () => {
    const proxy = closed(await startProxy({ credentials: 'ada:p@ss:wörd' }))
    const keyward = connect({ baseUrl: secureUrl, proxy: `http://ada:p%40ss%3Aw%C3%B6rd@${proxy.address}` })
    expect(await keyward.session()).toMatchObject({ ok: true, user })
    const authority = new URL(secureUrl).host
    expect(proxy.seen).toEqual(
      [1, 2].map(() => ({ line: `CONNECT ${authority}`, credentials: 'ada:p@ss:wörd', userAgent: sdk })),
    )
    expect(server.calls()).toEqual(['init', 'session'])
    for (const { headers } of server.seen) {
      expect(headers.host).toBe(authority)
      expect(headers['proxy-authorization']).toBeUndefined()
    }
  })

  it('gets the whole address of an http server', async () => {
    const proxy = closed(await startProxy({ credentials: 'ada:secret' }))
    expect(await connect({ proxy: `http://ada:secret@${proxy.address}` }).session()).toMatchObject({ user })
    expect(proxy.seen.map(({ line }) => line)).toEqual([
      `POST ${server.baseUrl}/api/client/init`,
      `GET ${server.baseUrl}/api/client/session`,
    ])
    for (const { headers } of server.seen) {
      expect(headers.host).toBe(new URL(server.baseUrl).host)
      expect(headers['proxy-authorization']).toBeUndefined()
    }
  })

  it.each(['http', 'https'])(
    'that rejects the credentials is unreachable, and is asked once: %s',
    async (scheme) => {
      const proxy = closed(await startProxy({ credentials: 'ada:secret' }))
      const error = await fails({
        baseUrl: scheme === 'http' ? server.baseUrl : secureUrl,
        proxy: `http://ada:wrong-password@${proxy.address}`,
      })
      expect(error).toMatchObject({
        name: 'KeywardNetworkError',
        code: 'unreachable',
        status: 407,
        outcomeUnknown: false,
      })
      expect(proxy.seen).toHaveLength(1)
      expect(server.seen).toHaveLength(0)
      expect(JSON.stringify([error, error.message, `${error.cause}`, error.stack])).not.toContain(
        'wrong-password',
      )
    },
  )

  it('that cannot be reached is unreachable', async () => {
    const proxy = await startProxy()
    await proxy.close()
    for (const baseUrl of [server.baseUrl, secureUrl]) {
      expect(await fails({ baseUrl, proxy: `http://${proxy.address}` })).toMatchObject({
        code: 'unreachable',
        outcomeUnknown: false,
      })
    }
  })

  it.each([
    ['drops the connection', ''],
    ['forbids the address', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'],
    ['cannot reach the server', 'HTTP/1.1 502 Bad Gateway\r\n\r\n<html>'],
    ['opens a tunnel to a page', 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>Welcome</html>'],
    ['is no HTTP proxy', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['never ends its answer', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`],
  ])('that %s is unreachable before anything was sent', async (_, answer) => {
    const proxy = closed(await startTcp((socket) => socket.once('data', () => socket.end(answer))))
    const error = await fails({ baseUrl: secureUrl, proxy: `http://${proxy.address}` })
    expect(error).toMatchObject({ name: 'KeywardNetworkError', code: 'unreachable', outcomeUnknown: false })
  })

  it('that sends a page late, as if from the tunnel, is unreachable', async () => {
    const proxy = closed(
      await startTcp((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          socket.once('data', () => socket.end('<html>Welcome</html>'))
        })
      }),
    )
    expect(await fails({ baseUrl: secureUrl, proxy: `http://${proxy.address}` })).toMatchObject({
      code: 'unreachable',
      outcomeUnknown: false,
    })
  })

  it.each(['http', 'https'])('that hangs ends with the timeout: %s', async (scheme) => {
    const proxy = closed(await startTcp(() => {}))
    const startedAt = performance.now()
    const baseUrl = scheme === 'http' ? server.baseUrl : secureUrl
    const error = await fails({ baseUrl, proxy: `http://${proxy.address}`, timeoutMs: 300 })
    expect(error).toMatchObject({ code: 'timed_out' })
    expect(performance.now() - startedAt).toBeLessThan(9_000)
  })

  it('that breaks the tunnel leaves the outcome unknown', async () => {
    server.on('register', (_, response) => {
      response.destroy()
      return undefined
    })
    const proxy = closed(await startProxy())
    const keyward = connect({ baseUrl: secureUrl, proxy: `http://${proxy.address}` })
    await expect(keyward.register(registration)).rejects.toMatchObject({
      code: 'connection_lost',
      outcomeUnknown: true,
    })
    expect(server.calls()).toEqual(['init', 'register'])
  })

  it('does not weaken the verification of the certificate', async () => {
    setDefaultCACertificates(trusted)
    const proxy = closed(await startProxy())
    const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      const error = await fails({ baseUrl: secureUrl, proxy: `http://${proxy.address}` })
      expect(error).toMatchObject({ code: 'certificate', outcomeUnknown: false })
      expect(error.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT')
      const elsewhere = secureUrl.replace('localhost', '127.0.0.1')
      expect(await fails({ baseUrl: elsewhere, proxy: `http://${proxy.address}` })).toMatchObject({
        code: 'certificate',
      })
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
    }
    expect(server.seen).toHaveLength(0)
  })

  it('rejects a certificate for another name', async () => {
    const proxy = closed(await startProxy())
    const elsewhere = secureUrl.replace('localhost', '127.0.0.1')
    const error = await fails({ baseUrl: elsewhere, proxy: `http://${proxy.address}` })
    expect(error).toMatchObject({ code: 'certificate' })
    expect(error.message).toContain('ERR_TLS_CERT_ALTNAME_INVALID')
    expect(server.seen).toHaveLength(0)
  })

  it('does not lift the limit of an answer', async () => {
    const proxy = closed(await startProxy())
    server.on('init', (seen) => signed(seen, 200, 'x'.repeat(300 * 1024)))
    for (const baseUrl of [server.baseUrl, secureUrl]) {
      expect(await fails({ baseUrl, proxy: `http://${proxy.address}` })).toMatchObject({
        name: 'KeywardSignatureError',
        code: 'body_too_large',
      })
    }
  })

  it('that answers an http request itself is a captive portal or a failed server, never a verdict', async () => {
    const answers = {
      captive_portal: 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>',
      server_error: 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n',
      blocked: 'HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"success":true}',
    }
    for (const [code, answer] of Object.entries(answers)) {
      const proxy = closed(await startTcp((socket) => socket.once('data', () => socket.end(answer))))
      expect(await fails({ proxy: `http://${proxy.address}` })).toMatchObject({ code })
    }
  })
})

describe('the option proxy', () => {
  it.each([
    ['another protocol', 'https://proxy.example.com:3128'],
    ['SOCKS', 'socks5://proxy.example.com:1080'],
    ['no protocol', 'proxy.example.com:3128'],
    ['a path', 'http://proxy.example.com:3128/path'],
    ['a query', 'http://proxy.example.com:3128/?a'],
    ['a user with a colon', 'http://a%3Ab:secret@proxy.example.com:3128'],
    ['a line break in the password', 'http://a:secret%0D%0A@proxy.example.com:3128'],
    ['a broken escape', 'http://a:secret%E0%A4%A@proxy.example.com:3128'],
    ['no text', 3128],
    ['an empty text', ''],
  ])('rejects %s, and does not repeat the password', (_, proxy) => {
    const error = (() => {
      try {
        connect({ proxy: proxy as string })
      } catch (error) {
        return error as Error
      }
    })()
    expect(error).toMatchObject({ name: 'KeywardUsageError', code: 'invalid_options' })
    expect(`${error?.message}${error?.cause ?? ''}`).not.toContain('secret%')
  })

  it('excludes the option fetch', () => {
    expect(() => connect({ proxy: 'http://127.0.0.1:1', fetch: globalThis.fetch })).toThrow(
      expect.objectContaining({ code: 'invalid_options' }),
    )
  })
})
