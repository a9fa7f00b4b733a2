import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { selfSigned } from '../../../apps/server/test/self-signed.ts'
import { findProxy } from '../src/environment-proxy.ts'
import { Keyward, type KeywardOptions } from '../src/index.ts'
import { sdk } from '../src/version.ts'
import { type StandIn, startStandIn, succeed, user } from './stand-in.ts'
import { startProxy, startTlsFront } from './stand-in-proxy.ts'

const found = (target: string, environment: Record<string, string>) => {
  const proxy = findProxy(new URL(target), environment)
  return proxy && `${proxy.host}:${proxy.port}`
}
const secure = 'https://licenses.example.com'
const plain = 'http://licenses.example.com'
const proxy = 'http://proxy.example.com:3128'
const used = 'proxy.example.com:3128'

describe('the proxy of the environment', () => {
  it.each<[string, string, Record<string, string>, string | undefined]>([
    ['HTTPS_PROXY', secure, { HTTPS_PROXY: proxy }, used],
    ['https_proxy', secure, { https_proxy: proxy }, used],
    ['https_proxy before HTTPS_PROXY', secure, { https_proxy: proxy, HTTPS_PROXY: 'http://other:1' }, used],
    ['an empty https_proxy, which means none', secure, { https_proxy: '', HTTPS_PROXY: proxy }, undefined],
    ['HTTPS_PROXY for https alone', plain, { HTTPS_PROXY: proxy }, undefined],
    ['http_proxy', plain, { http_proxy: proxy }, used],
    ['http_proxy for http alone', secure, { http_proxy: proxy }, undefined],
    ['HTTP_PROXY', plain, { HTTP_PROXY: proxy }, used],
    ['no HTTP_PROXY of a CGI request', plain, { HTTP_PROXY: proxy, REQUEST_METHOD: 'GET' }, undefined],
    ['no HTTP_PROXY of a gateway', plain, { HTTP_PROXY: proxy, GATEWAY_INTERFACE: 'CGI/1.1' }, undefined],
    ['http_proxy in a CGI program', plain, { http_proxy: proxy, REQUEST_METHOD: 'GET' }, used],
    ['ALL_PROXY', secure, { ALL_PROXY: proxy }, used],
    ['all_proxy', plain, { all_proxy: proxy }, used],
    ['HTTPS_PROXY before ALL_PROXY', secure, { HTTPS_PROXY: proxy, ALL_PROXY: 'http://other:1' }, used],
    ['an empty HTTPS_PROXY before ALL_PROXY', secure, { HTTPS_PROXY: '', ALL_PROXY: proxy }, undefined],
    ['no SOCKS proxy of the desktop', secure, { ALL_PROXY: 'socks5h://127.0.0.1:1080' }, undefined],
    ['an address without a scheme', secure, { HTTPS_PROXY: 'proxy.example.com:3128' }, used],
    ['ALL_PROXY without a scheme', secure, { ALL_PROXY: 'proxy.example.com:3128' }, used],
    ['white space around the address', secure, { HTTPS_PROXY: ` ${proxy}/ ` }, used],
    ['the port 80 by default', secure, { HTTPS_PROXY: 'http://proxy.example.com' }, 'proxy.example.com:80'],
    ['an IPv6 address', secure, { HTTPS_PROXY: 'http://[::1]:3128' }, '::1:3128'],
    ['nothing', secure, {}, undefined],
  ])('is %s', (_, target, environment, expected) => {
    expect(found(target, environment)).toBe(expected)
  })

  it.each([
    [secure, 'licenses.example.com'],
    [secure, 'example.com'],
    [secure, '.example.com'],
    [secure, '*.example.com'],
    [secure, 'EXAMPLE.COM.'],
    [secure, 'localhost, 127.0.0.1 ,example.com'],
    [secure, 'localhost example.com'],
    [secure, '*'],
    [secure, 'other.example, *'],
    [secure, 'example.com:443'],
    ['https://licenses.example.com:8443', 'licenses.example.com:8443'],
    ['https://licenses.example.com.', 'example.com'],
    ['https://127.0.0.1:8443', '127.0.0.1'],
    ['https://10.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', '10.1.2.3/32'],
    ['https://10.1.2.3', '0.0.0.0/0'],
    ['https://[fd00::1]:8443', 'fd00::/8'],
    ['https://[::1]:8443', '::1'],
    ['https://[::1]:8443', '[::1]'],
    ['https://[::1]:8443', '[::1]:8443'],
    ['https://[0:0:0:0:0:0:0:1]', '0::1'],
  ])('is not used for %s with NO_PROXY=%s', (target, list) => {
    expect(found(target, { HTTPS_PROXY: proxy, NO_PROXY: list })).toBeUndefined()
    expect(found(target, { ALL_PROXY: proxy, no_proxy: list })).toBeUndefined()
  })

  it.each([
    [secure, ''],
    [secure, ',, '],
    [secure, 'ample.com'],
    [secure, 'other.licenses.example.com'],
    [secure, 'example.com:8443'],
    [secure, '10.0.0.0/8'],
    [secure, '.'],
    ['https://10.1.2.3', '10.2.0.0/16'],
    ['https://10.1.2.3', '1.2.3'],
    ['https://10.1.2.3', '10.1.2.3/33'],
    ['https://10.1.2.3', '10.1.2.3/'],
    ['https://10.1.2.3', '10.1.2.3/x'],
    ['https://10.1.2.3', 'fd00::/8'],
    ['https://[fd00::1]', '10.0.0.0/8'],
    ['https://[fd00::1]:8443', '[fd00::1]:443'],
  ])('is used for %s with NO_PROXY=%s', (target, list) => {
    expect(found(target, { HTTPS_PROXY: proxy, NO_PROXY: list })).toBe(used)
  })

  it('that is no HTTP proxy makes the server unreachable, and its password is not repeated', () => {
    for (const setting of [
      'https://a:secret@proxy:443',
      'socks5://a:secret@proxy',
      'http://a:secret%zz@proxy',
    ]) {
      expect(() => found(secure, { HTTPS_PROXY: setting })).toThrow(
        expect.objectContaining({
          code: 'unreachable',
          outcomeUnknown: false,
          message: expect.not.stringContaining('secret'),
        }),
      )
    }
  })
})

describe('a program behind the proxy of the environment', () => {
  let server: StandIn
  let front: Awaited<ReturnType<typeof startTlsFront>>
  let between: Awaited<ReturnType<typeof startProxy>>
  const trusted = getCACertificates('default')
  beforeAll(async () => {
    server = await startStandIn()
    server.on('session', succeed({ user }))
    const certificate = selfSigned()
    setDefaultCACertificates([...trusted, certificate.cert])
    front = await startTlsFront(server.baseUrl, certificate)
    between = await startProxy({ credentials: 'ada:secret' })
    for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy']) vi.stubEnv(name, undefined)
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) vi.stubEnv(name, `http://ada:secret@${between.address}`)
    vi.stubEnv('NO_PROXY', 'elsewhere.example')
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    setDefaultCACertificates(trusted)
    await Promise.all([server.close(), front.close(), between.close()])
  })
  const ask = (options: Partial<KeywardOptions> = {}) => {
    between.seen.length = 0
    server.seen.length = 0
    return new Keyward({
      baseUrl: `https://localhost:${front.port}`,
      publicKeys: server.publicKeys,
      appId: 'app12345',
      secret: 's',
      version: '1.0.0',
      hwid: 'hw-1',
      ...options,
    }).session()
  }

  it('tunnels https, and names itself to the proxy and the server', async () => {
    expect(await ask()).toMatchObject({ ok: true })
    const line = `CONNECT localhost:${front.port}`
    expect(between.seen).toEqual([1, 2].map(() => ({ line, credentials: 'ada:secret', userAgent: sdk })))
    expect(server.seen.map(({ headers }) => headers['user-agent'])).toEqual([sdk, sdk])
  })

  it('sends http requests to it as a whole', async () => {
    expect(await ask({ baseUrl: server.baseUrl })).toMatchObject({ ok: true })
    expect(between.seen[0]?.line).toBe(`POST ${server.baseUrl}/api/client/init`)
  })

  it('goes without it where NO_PROXY, the option fetch or another proxy says so', async () => {
    vi.stubEnv('NO_PROXY', 'localhost')
    expect(await ask()).toMatchObject({ ok: true })
    expect(server.seen.map(({ headers }) => headers['user-agent'])).toEqual([sdk, sdk])
    vi.stubEnv('NO_PROXY', '')
    expect(await ask({ fetch: globalThis.fetch as KeywardOptions['fetch'] })).toMatchObject({ ok: true })
    const other = await startProxy()
    expect(await ask({ proxy: `http://${other.address}` })).toMatchObject({ ok: true })
    expect([between.seen, other.seen.length]).toEqual([[], 2])
    await other.close()
  })
})
