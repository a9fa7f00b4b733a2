// In the full run: it compiles the SDK.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { selfSigned } from '../../apps/server/test/self-signed.ts'
import { startProxy, startTcp, startTlsFront } from '../../packages/sdk/test/stand-in-proxy.ts'
import { Adapter } from '../conformance/adapter.ts'
import { findLanguage } from '../conformance/languages.ts'
import { type Space, type StandIn, signed, startStandIn, succeed, user } from '../conformance/stand-in.ts'

const { missing, command } = findLanguage('csharp')
const closing: (() => unknown)[] = []
const closed = <T extends { close(): unknown }>(one: T): T => {
  closing.push(() => one.close())
  return one
}

describe.skipIf(missing !== undefined)('the SDK for C# behind a proxy', () => {
  let adapter: Adapter
  let server: StandIn
  let space: Space
  let secureUrl: string
  let isTrusted: boolean

  beforeAll(async () => {
    server = closed(await startStandIn())
    space = server.space()
    for (const call of ['session', 'register', 'license']) space.on(call, succeed({ user }))
    const certificate = selfSigned()
    const { origin, pathname } = new URL(space.baseUrl)
    secureUrl = `https://localhost:${closed(await startTlsFront(origin, certificate)).port}${pathname}`
    const folder = mkdtempSync(join(tmpdir(), 'keyward-trust-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'certificate.pem')
    writeFileSync(file, certificate.cert)
    const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: folder, LOCALAPPDATA: folder }
    isTrusted = spawnSync('cert-sync', ['--user', file], { env }).status === 0
    adapter = await Adapter.start(await command(), { folder })
    closing.push(() => adapter.stop())
  }, 600_000)

  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  async function call(method: string, options: object, ...args: unknown[]) {
    const { publicKeys } = server
    const defaults = { publicKeys, appId: 'app12345', secret: 's', version: '1.0.0', hwid: 'hw-1' }
    const id = `client-${Math.random()}`
    await adapter.open(id, { ...defaults, baseUrl: secureUrl, timeoutMs: 10_000, ...options })
    return adapter.call(id, method, ...args)
  }

  it('reaches the server through a tunnel, with credentials that the server never sees', async ({ skip }) => {
    skip(!isTrusted, 'this machine has no cert-sync')
    const proxy = closed(await startProxy({ credentials: 'ada:p@ss:wörd' }))
    const before = space.seen.length
    const options = { proxy: `http://ada:p%40ss%3Aw%C3%B6rd@${proxy.address}` }
    expect(await call('license', options, 'KEY')).toMatchObject({ result: { ok: true, user } })
    const seen = space.seen.slice(before)
    expect(seen.map((each) => each.call)).toEqual(['init', 'license'])
    for (const { headers } of seen) expect(headers['proxy-authorization']).toBeUndefined()
    expect(new Set(proxy.seen.map((each) => each.line))).toEqual(
      new Set([`CONNECT ${new URL(secureUrl).host}`]),
    )
  })

  it('does not lift the limit of an answer', async ({ skip }) => {
    skip(!isTrusted, 'this machine has no cert-sync')
    const proxy = closed(await startProxy())
    space.on('validate', (seen) => signed(seen, 200, 'x'.repeat(300 * 1024)))
    expect(await call('validate', { proxy: `http://${proxy.address}` }, 'KEY')).toMatchObject({
      error: { kind: 'signature', code: 'body_too_large' },
    })
  })

  it('rejects a certificate for another name', async () => {
    const proxy = closed(await startProxy())
    const baseUrl = secureUrl.replace('localhost', '127.0.0.1')
    const before = space.seen.length
    expect(await call('init', { baseUrl, proxy: `http://${proxy.address}` })).toMatchObject({
      error: { kind: 'network', code: 'certificate', outcomeUnknown: false },
    })
    expect(space.seen).toHaveLength(before)
  })

  it.each(['http', 'https'])('does not repeat wrong credentials: %s', async (scheme) => {
    const proxy = closed(await startProxy({ credentials: 'ada:right' }))
    const baseUrl = scheme === 'http' ? space.baseUrl : secureUrl
    const error = { kind: 'network', code: 'unreachable', outcomeUnknown: false, status: 407 }
    const options = { baseUrl, proxy: `http://ada:wrong@${proxy.address}` }
    expect(await call('init', options)).toMatchObject({ error })
    expect(proxy.seen.length).toBeLessThanOrEqual(2)
  })

  it.each([
    ['drops the connection', '', undefined],
    ['forbids the address', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', 403],
    ['cannot reach the server', 'HTTP/1.1 502 Bad Gateway\r\n\r\n<html>', 502],
    ['opens a tunnel to a page', 'HTTP/1.1 200 OK\r\n\r\n<html>Welcome, please sign in</html>', undefined],
    ['is no HTTP proxy', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', undefined],
    ['never ends its answer', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(1_000)}`, undefined],
  ])('reports a proxy as unreachable that %s', async (_, said, status) => {
    const proxy = closed(await startTcp((socket) => void socket.once('data', () => socket.end(said))))
    const { error } = await call(
      'register',
      { proxy: `http://${proxy.address}` },
      {
        username: 'ada',
        password: 'secret1',
        licenseKey: 'KEY',
      },
    )
    expect(error).toMatchObject({ kind: 'network', code: 'unreachable', outcomeUnknown: false })
    expect(error?.status ?? undefined).toBe(status)
  })

  it.each([
    'https://proxy.example.com:3128',
    'socks5://proxy.example.com:1080',
    'proxy.example.com:3128',
    'http://proxy.example.com:3128/path',
    'http://proxy.example.com:3128/?a',
    'http://a%3Ab:secret@proxy.example.com:3128',
    'http://a:secret%0D%0A@proxy.example.com:3128',
    'http://a:secret%E0%A4%A@proxy.example.com:3128',
    '',
  ])('refuses the address %s', async (proxy) => {
    await expect(call('init', { proxy })).rejects.toThrow('invalid_options')
  })
})
