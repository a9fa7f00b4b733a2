import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { selfSigned } from '../../../apps/server/test/self-signed.ts'
import { digestOf } from '../../../packages/sdk/test/signer.ts'
import { startProxy, startTlsFront } from '../../../packages/sdk/test/stand-in-proxy.ts'
import type { Adapter } from '../adapter.ts'
import type { LanguageName } from '../languages.ts'
import {
  plain,
  refuse,
  type StandIn,
  signed,
  startStandIn,
  succeed,
  unusedAddress,
  user,
} from '../stand-in.ts'

const device = {
  _id: 'dev_1',
  name: null,
  system: null,
  firstSeenAt: user.createdAt,
  lastSeenAt: user.createdAt,
}
const session = { session: 'session-1', app: { name: 'Tally', version: '1.0.0' }, variables: {} }
const license = { key: 'KEY', used: true, username: 'ada', expiresAt: null, inGrace: false, term: 'forever' }
const login = { username: ' Ada ', password: ' a "Größe" \\ 💡\n' }
const registration = { ...login, licenseKey: 'KEY', email: 'ada@example.com' }

/** Call, arguments; method, path and body of the request; data of the answer. */
const calls: [
  method: string,
  args: unknown[],
  http: string,
  path: string,
  body: object | undefined,
  data: object,
][] = [
  [
    'register',
    [{ ...registration, licenseKey: ' KEY\n' }],
    'POST',
    'register',
    { ...registration, hwid: 'hw' },
    { user },
  ],
  ['login', [login], 'POST', 'login', { ...login, hwid: 'hw' }, { user }],
  ['license', [' KEY\n'], 'POST', 'license', { licenseKey: 'KEY', hwid: 'hw' }, { user }],
  [
    'trial',
    [{ type: 'lt_1', email: 'a@b.example' }],
    'POST',
    'trial',
    { type: 'lt_1', email: 'a@b.example', hwid: 'hw' },
    { user },
  ],
  [
    'upgrade',
    [{ username: 'ada', licenseKey: ' KEY ' }],
    'POST',
    'upgrade',
    { username: 'ada', licenseKey: 'KEY' },
    { user },
  ],
  ['session', [], 'GET', 'session', undefined, { user }],
  ['devices', [], 'GET', 'devices', undefined, { devices: [device] }],
  ['freeDevice', ['dev/1 ü?'], 'DELETE', 'devices/dev%2F1%20%C3%BC%3F', undefined, {}],
  ['logout', [], 'POST', 'logout', undefined, {}],
  [
    'validate',
    [' KEY ', { activate: true }],
    'POST',
    'validate',
    { appId: 'k3yw4rd1', licenseKey: 'KEY', hwid: 'hw', activate: true, locale: 'de-AT' },
    { valid: true, activated: true, license },
  ],
]

const sdks: Record<LanguageName, string> = {
  typescript: 'keyward-js',
  python: 'keyward-python',
  cpp: 'keyward-cpp',
  csharp: 'keyward-csharp',
}

/** What an SDK sends for each call, what it returns, and what it logs. */
export function everyCall(adapter: () => Adapter, language: LanguageName): void {
  describe('every call', () => {
    let server: StandIn
    beforeAll(async () => {
      server = await startStandIn()
    })
    afterAll(() => server.close())
    const call = (id: string, method: string, ...args: unknown[]) => adapter().call(id, method, ...args)
    const start = (id: string, options: object) =>
      adapter().open(id, {
        publicKeys: server.publicKeys,
        appId: 'k3yw4rd1',
        secret: 'secret',
        version: '1.0.0',
        hwid: 'hw',
        locale: 'de-AT',
        timeoutMs: 20_000,
        ...options,
      })

    it.each(calls)(
      '%s sends its fields and returns the answer',
      async (method, args, http, path, body, data) => {
        const space = server.space()
        space.on('license', succeed({ user }))
        await start('call', { baseUrl: `${space.baseUrl}//`, hash: 'aB12', secret: 'sécret' })
        if (method !== 'validate') await call('call', 'init')
        if (method === 'logout' || method === 'devices') await call('call', 'license', 'KEY')
        space.on(path, succeed(data))
        const { result } = await call('call', method, ...args)
        expect(result).toMatchObject({ ok: true, ...data })
        const sent = space.requests(path).at(-1)!
        expect([sent.method, sent.body]).toEqual([http, body])
        expect(sent.path).toBe(`${new URL(space.baseUrl).pathname}/api/client/${path}`)
        const inSession = method !== 'validate'
        expect(sent.headers).toMatchObject({
          'accept-encoding': 'identity',
          'keyward-keys': 'test-key-ed25519',
          'keyward-nonce': expect.stringMatching(/^[\x21-\x7e]{16,64}$/),
          ...(inSession ? { authorization: 'Bearer session-1', 'keyward-app': 'k3yw4rd1' } : {}),
        })
        expect(sent.headers['content-digest']).toBe(body && digestOf(sent.rawBody))
        if (body) expect(sent.headers['content-type']).toMatch(/^application\/json/)
        if (!inSession) expect(sent.headers.authorization).toBeUndefined()
        expect(sent.headers).not.toHaveProperty('expect')
        if (!inSession) return
        const [init] = space.requests('init')
        expect(init!.body).toEqual({
          appId: 'k3yw4rd1',
          secret: 'sécret',
          version: '1.0.0',
          hash: 'aB12',
          hwid: 'hw',
          locale: 'de-AT',
          sdk: expect.stringMatching(new RegExp(`^${sdks[language]}/\\d+\\.\\d+\\.\\d+$`)),
        })
        expect(init!.headers.authorization).toBeUndefined()
      },
    )

    it.each(calls.filter(([method]) => method !== 'logout'))(
      '%s passes on a refusal with a code of a newer server',
      async (method, args, _http, path) => {
        const space = server.space()
        await start('unknown', { baseUrl: space.baseUrl })
        space.on(path, refuse(403, 'moonPhase'))
        expect(await call('unknown', method, ...args)).toMatchObject({
          result: { ok: false, code: 'moonPhase', message: "moonPhase in the app's words" },
        })
      },
    )

    it('a text of any kind arrives as it was sent', async () => {
      const space = server.space()
      const username = 'quote " backslash \\ slash / \b\f\n\r\t \u0001 \u007f \u2028 ü ключ 钥匙 💡 </script>'
      const escaped = JSON.stringify({ success: true, data: { user: { ...user, username } } }).replace(
        /[^\x20-\x7e]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      space.on('login', succeed({ user: { ...user, username } }), (seen) => signed(seen, 200, escaped))
      await start('text', { baseUrl: space.baseUrl })
      for (let round = 0; round < 2; round++) {
        const { result } = await call('text', 'login', { username, password: username })
        expect(result.user.username).toBe(username)
        expect(space.requests('login')[round]!.body.username).toBe(username)
      }
    })

    it('a refusal has all of its facts, and no field of an answer overrides the verdict', async () => {
      const space = server.space()
      const details = {
        expiresAt: null,
        devices: { used: 1, limit: -1 },
        odd: [1, 2.5, -0.125, true, null, 'x'],
        big: 9_007_199_254_740_991,
      }
      const errors = [{ path: 'email', message: 'No address' }]
      const refusal = {
        success: false,
        code: 'userBanned',
        message: 'Nein',
        reference: 'AB12CD34EF',
        details,
        errors,
      }
      space.on('license', (seen) => signed(seen, 403, { ...refusal, ok: true, data: { ok: true, user } }))
      space.on('login', succeed({ user, ok: false, code: 'x' }))
      space.on(
        'validate',
        succeed({
          valid: false,
          ok: true,
          code: 'keyBanned',
          license: null,
          reference: 'AB12CD34EF',
          details,
        }),
      )
      await start('facts', { baseUrl: space.baseUrl })
      const { success: _, ...facts } = refusal
      expect(await call('facts', 'license', 'KEY')).toMatchObject({ result: { ...facts, ok: false } })
      expect(await call('facts', 'login', login)).toMatchObject({ result: { ok: true, user } })
      expect(await call('facts', 'validate', 'KEY')).toMatchObject({
        result: { ok: false, code: 'keyBanned', reference: 'AB12CD34EF', details },
      })
    })

    it.each([
      ['no address', { baseUrl: 'nowhere' }],
      ['another protocol', { baseUrl: 'ftp://example.com' }],
      ['a password in the address', { baseUrl: 'http://a:b@127.0.0.1' }],
      ['a query', { baseUrl: 'http://127.0.0.1/?a' }],
      ['a fragment', { baseUrl: 'http://127.0.0.1/#a' }],
      ['no app id', { appId: '' }],
      ['a long app id', { appId: 'x'.repeat(65) }],
      ['no secret', { secret: '' }],
      ['a long secret', { secret: 'x'.repeat(129) }],
      ['no version', { version: '' }],
      ['a long version', { version: 'x'.repeat(33) }],
      ['a long hash', { hash: 'x'.repeat(257) }],
      ['a long locale', { locale: 'x'.repeat(36) }],
      ['an empty hardware id', { hwid: '' }],
      ['a long hardware id', { hwid: 'x'.repeat(257) }],
      ['a short time limit', { timeoutMs: 99 }],
      ['a long time limit', { timeoutMs: 600_001 }],
      ['a proxy of another protocol', { proxy: 'socks5://127.0.0.1:1080' }],
      ['a proxy with a path', { proxy: 'http://127.0.0.1:3128/path' }],
      ['a proxy without a protocol', { proxy: '127.0.0.1:3128' }],
    ])('an option is rejected: %s', async (_, options) => {
      const facts = {
        baseUrl: 'http://127.0.0.1:9',
        appId: 'k3yw4rd1',
        secret: 's',
        version: '1',
        hwid: 'hw',
      }
      const request = {
        op: 'new',
        id: 'bad',
        options: { ...facts, publicKeys: server.publicKeys, ...options },
      }
      expect(await adapter().ask(request)).toMatchObject({
        error: { kind: 'usage', code: 'invalid_options' },
      })
    })

    it('a function that fails to find the hardware id is a usage error, and is asked again', async () => {
      const space = server.space()
      await start('throws', { baseUrl: space.baseUrl, hwid: '!throw' })
      for (const [method, ...args] of [['init'], ['license', 'KEY'], ['validate', 'KEY']] as [
        string,
        ...string[],
      ][]) {
        expect(await call('throws', method, ...args)).toMatchObject({
          error: { kind: 'usage', code: 'hwid_unavailable' },
        })
      }
      expect(space.seen).toHaveLength(0)
    })

    it.each(['', '.', '..'])('a device id %j, which addresses drop, is a usage error', async (deviceId) => {
      const space = server.space()
      await start('dots', { baseUrl: space.baseUrl })
      expect(await call('dots', 'freeDevice', deviceId)).toMatchObject({
        error: { kind: 'usage', code: 'invalid_argument' },
      })
      expect(space.seen).toHaveLength(0)
    })

    it('concurrent calls open one session', async () => {
      const space = server.space()
      // Held for a second, so that all calls ask while the session opens.
      space.on('init', (seen, response) => {
        const { status, headers, body } = signed(seen, 200, { success: true, data: session })
        setTimeout(
          () => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
          1000,
        )
        return undefined
      })
      space.on('license', succeed({ user }))
      await start('together', { baseUrl: space.baseUrl })
      const calls = Array.from({ length: 16 }, () => ({ id: 'together', method: 'license', args: ['KEY'] }))
      for (const each of await adapter().together(calls)) expect(each).toMatchObject({ result: { ok: true } })
      expect([space.requests('init').length, space.requests('license').length]).toEqual([1, 16])
    })

    it('nested brackets without end are no verdict, and no crash', async () => {
      const space = server.space()
      const bodies = [
        '['.repeat(200_000),
        '{"code":'.repeat(25_000),
        `{"code":"appDisabled","x":${'['.repeat(200_000)}`,
      ]
      space.on('license', ...bodies.map((body) => plain(403, body)))
      await start('nested', { baseUrl: space.baseUrl })
      for (const _ of bodies) {
        expect(await call('nested', 'license', 'KEY')).toMatchObject({
          error: { kind: 'network', code: 'blocked', status: 403 },
        })
      }
      space.on('license', (seen) => signed(seen, 200, '['.repeat(200_000)))
      expect(await call('nested', 'license', 'KEY')).toMatchObject({ error: { code: 'unexpected_answer' } })
    })

    describe('with a log', () => {
      const durationMs = expect.any(Number)

      it('gets requests, answers, refusals and retries, and nothing secret', async () => {
        const space = server.space()
        const refusal = { success: false, code: 'userBanned', message: 'the-text', reference: 'AB12CD34EF' }
        space.on('license', plain(503), succeed({ user }))
        space.on('session', (seen) => signed(seen, 403, refusal))
        space.on('validate', plain(200, '{"success":true}'))
        await start('log', { baseUrl: space.baseUrl, secret: 'the-secret', hwid: 'the-machine', log: true })
        await call('log', 'license', 'THE-KEY')
        await call('log', 'session')
        await call('log', 'validate', 'THE-KEY')
        await call('log', 'freeDevice', 'the-device')
        const { result: events } = await adapter().ask({ op: 'events', id: 'log' })
        expect(events).toMatchObject([
          { event: 'request', call: 'init', attempt: 1 },
          { event: 'response', call: 'init', attempt: 1, status: 200, durationMs },
          { event: 'request', call: 'license', attempt: 1 },
          {
            event: 'retry',
            call: 'license',
            attempt: 1,
            status: 503,
            code: 'server_error',
            durationMs,
            delayMs: durationMs,
          },
          { event: 'request', call: 'license', attempt: 2 },
          { event: 'response', call: 'license', attempt: 2, status: 200, durationMs },
          { event: 'request', call: 'session', attempt: 1 },
          {
            event: 'response',
            call: 'session',
            attempt: 1,
            status: 403,
            code: 'userBanned',
            reference: 'AB12CD34EF',
            durationMs,
          },
          { event: 'request', call: 'validate', attempt: 1 },
          { event: 'failed', call: 'validate', attempt: 1, status: 200, code: 'blocked', durationMs },
          { event: 'request', call: 'devices', attempt: 1 },
          { event: 'response', call: 'devices', attempt: 1, status: 200, durationMs },
        ])
        const known = ['event', 'call', 'attempt', 'status', 'code', 'reference', 'durationMs', 'delayMs']
        for (const event of events) expect(known).toEqual(expect.arrayContaining(Object.keys(event)))
        expect(JSON.stringify(events)).not.toMatch(/the-|session-1|ada|Bearer|signature/i)
        expect((await adapter().ask({ op: 'events', id: 'log' })).result).toEqual([])
      })

      it('that throws changes nothing', async () => {
        const space = server.space()
        space.on('license', succeed({ user }))
        space.on('session', refuse(403, 'userBanned'))
        await start('log', { baseUrl: space.baseUrl, log: '!throw' })
        expect(await call('log', 'license', 'KEY')).toMatchObject({ result: { ok: true } })
        expect(await call('log', 'session')).toMatchObject({ result: { ok: false, code: 'userBanned' } })
      })
    })

    describe('through a proxy', () => {
      // A name that only the proxy can resolve; some platforms never use a proxy for loopback addresses.
      const named = (baseUrl: string) => baseUrl.replace('127.0.0.1', 'licenses.test')
      it('the whole address goes to it, and its password to no server', async () => {
        const space = server.space()
        space.on('license', succeed({ user }))
        const proxy = await startProxy({ credentials: 'ada:p@ss:wörd' })
        try {
          const address = `http://ada:p%40ss%3Aw%C3%B6rd@${proxy.address}`
          await start('proxy', { baseUrl: named(space.baseUrl), proxy: address })
          expect(await call('proxy', 'license', 'KEY')).toMatchObject({ result: { ok: true, user } })
          expect(proxy.seen).toEqual(
            ['init', 'license'].map((name) => ({
              line: `POST ${named(space.baseUrl)}/api/client/${name}`,
              credentials: 'ada:p@ss:wörd',
              userAgent: space.seen[0]!.headers['user-agent'],
            })),
          )
          for (const { headers } of space.seen) expect(headers['proxy-authorization']).toBeUndefined()
        } finally {
          await proxy.close()
        }
      })

      it('that rejects the password, the password is sent once and the server is unreachable', async () => {
        const space = server.space()
        const front = await startTlsFront(new URL(space.baseUrl).origin, selfSigned())
        const proxy = await startProxy({ credentials: 'ada:secret' })
        try {
          for (const baseUrl of [named(space.baseUrl), `https://licenses.test:${front.port}/s0`]) {
            proxy.seen.length = 0
            await start('proxy', { baseUrl, proxy: `http://ada:wrong@${proxy.address}` })
            expect(await call('proxy', 'license', 'KEY'), baseUrl).toMatchObject({
              error: { kind: 'network', code: 'unreachable', status: 407, outcomeUnknown: false },
            })
            const tried = proxy.seen.filter(({ credentials }) => credentials === 'ada:wrong')
            expect(tried).toHaveLength(1)
          }
          expect(space.seen).toHaveLength(0)
        } finally {
          await Promise.all([proxy.close(), front.close()])
        }
      })

      it('a tunnel leads to the server, and a certificate that is not trusted ends it', async () => {
        const space = server.space()
        const front = await startTlsFront(new URL(space.baseUrl).origin, selfSigned())
        const proxy = await startProxy()
        const gone = await unusedAddress()
        try {
          const baseUrl = `https://localhost:${front.port}${new URL(space.baseUrl).pathname}`
          await start('direct', { baseUrl, timeoutMs: 10_000 })
          await start('tunnel', {
            baseUrl: baseUrl.replace('localhost', 'licenses.test'),
            timeoutMs: 10_000,
            proxy: `http://${proxy.address}`,
          })
          await start('gone', {
            baseUrl: baseUrl.replace('localhost', 'licenses.test'),
            timeoutMs: 10_000,
            proxy: gone,
          })
          const fails = (code: string) => ({ error: { kind: 'network', code, outcomeUnknown: false } })
          const rejected = fails('certificate')
          expect(
            await adapter().together(['direct', 'tunnel', 'gone'].map((id) => ({ id, method: 'init' }))),
          ).toMatchObject([rejected, rejected, fails('unreachable')])
          expect(proxy.seen).toHaveLength(1)
          expect(proxy.seen[0]).toMatchObject({ line: `CONNECT licenses.test:${front.port}` })
          expect(space.seen).toHaveLength(0)
        } finally {
          await Promise.all([proxy.close(), front.close()])
        }
      })
    })
  })
}
