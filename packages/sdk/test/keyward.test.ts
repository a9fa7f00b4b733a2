import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { type Fetch, Keyward, type KeywardOptions, KeywardUsageError } from '../src/index.ts'
import { digestOf, testKey, toPublic } from './signer.ts'
import { plain, refuse, type StandIn, signed, startStandIn, succeed, user } from './stand-in.ts'

let server: StandIn

beforeEach(async () => {
  server = await startStandIn()
  server.on('login', succeed({ user }, 'Successfully logged in'))
  server.on('license', succeed({ user }))
  server.on('register', succeed({ user }))
  server.on('upgrade', succeed({ user }))
  server.on('session', succeed({ user }))
  server.on('logout', succeed({}))
})

afterEach(() => server.close())

function connect(options: Partial<KeywardOptions> = {}) {
  const { baseUrl, publicKeys } = server
  return new Keyward({
    baseUrl,
    publicKeys,
    appId: 'app12345',
    secret: 's'.repeat(32),
    version: '1.2.0',
    hwid: 'hw-1',
    ...options,
  })
}

describe('calls', () => {
  it('open one session automatically, even for concurrent calls', async () => {
    const keyward = connect()
    await Promise.all([keyward.login({ username: 'ada', password: 'secret' }), keyward.session()])
    await keyward.session()
    expect(server.calls().filter((name) => name === 'init')).toHaveLength(1)
    expect(server.seen[0]?.body).toEqual({
      appId: 'app12345',
      secret: 's'.repeat(32),
      version: '1.2.0',
      hwid: 'hw-1',
      sdk: expect.stringMatching(/^keyward-js\/\d+\.\d+\.\d+$/),
    })
  })

  it('send the session, the app, a fresh nonce and the digest of the body', async () => {
    const keyward = connect()
    await keyward.login({ username: 'ada', password: 'secret' })
    await keyward.session()
    const [init, login, session] = server.seen
    expect(init?.headers.authorization).toBeUndefined()
    expect(login?.headers).toMatchObject({
      authorization: 'Bearer session-1',
      'keyward-app': 'app12345',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-digest': digestOf(login!.rawBody),
    })
    expect(session?.headers['content-digest']).toBeUndefined()
    const nonces = server.seen.map((one) => one.headers['keyward-nonce'])
    expect(new Set(nonces).size).toBe(3)
    for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{32}$/)
  })

  it('return the response data and the data of init', async () => {
    const keyward = connect()
    expect(await keyward.init()).toEqual({
      ok: true,
      expiresAt: '2030-01-02T00:00:00.000Z',
      app: { name: 'Tally', version: '1.0.0' },
      updateAvailable: false,
    })
    expect(await keyward.login({ username: 'ada', password: 'secret' })).toEqual({
      ok: true,
      message: 'Successfully logged in',
      user,
    })
  })

  it('send the body that the protocol specifies for each call', async () => {
    server.on(
      'validate',
      succeed({ valid: true, license: { key: 'K', used: true, username: 'ada', expiresAt: user.expiresAt } }),
    )
    const keyward = connect()
    await keyward.register({
      username: 'ada',
      password: 'secret',
      licenseKey: ' KEY ',
      email: 'ada@example.com',
    })
    await keyward.license('KEY')
    await keyward.upgrade({ username: 'ada', licenseKey: 'KEY-2' })
    await keyward.validate('KEY')
    await keyward.logout()
    expect(
      server.seen.slice(1).map(({ method, path, body }) => [method, path.split('/').at(-1), body]),
    ).toEqual([
      [
        'POST',
        'register',
        { username: 'ada', password: 'secret', licenseKey: 'KEY', email: 'ada@example.com', hwid: 'hw-1' },
      ],
      ['POST', 'license', { licenseKey: 'KEY', hwid: 'hw-1' }],
      ['POST', 'upgrade', { username: 'ada', licenseKey: 'KEY-2' }],
      ['POST', 'validate', { appId: 'app12345', licenseKey: 'KEY', hwid: 'hw-1' }],
      ['POST', 'logout', undefined],
    ])
  })

  it('keep the path of the base URL and sign it', async () => {
    const behind = await startStandIn('/tools/licenses')
    behind.on('session', succeed({ user }))
    const keyward = connect({ baseUrl: `${behind.baseUrl}/` })
    expect((await keyward.session()).ok).toBe(true)
    expect(behind.seen.map((one) => one.path)).toEqual([
      '/tools/licenses/api/client/init',
      '/tools/licenses/api/client/session',
    ])
    await behind.close()
  })

  it('work with the global fetch injected', async () => {
    expectTypeOf(globalThis.fetch).toExtend<Fetch>()
    const urls: string[] = []
    const keyward = connect({
      fetch: (url, init) => {
        urls.push(url)
        return globalThis.fetch(url, init)
      },
    })
    await keyward.session()
    expect(urls).toEqual([`${server.baseUrl}/api/client/init`, `${server.baseUrl}/api/client/session`])
  })
})

describe('a rejection', () => {
  it.each([
    ['userBanned', 403],
    ['passMismatch', 401],
    ['keyNotFound', 404],
    ['keyUsed', 409],
    ['unTooShort', 400],
  ])('is a result, not an exception: %s', async (code, status) => {
    server.on('login', refuse(status, code))
    expect(await connect().login({ username: 'ada', password: 'secret' })).toEqual({
      ok: false,
      code,
      message: `${code} in the app's words`,
    })
  })

  it('of init is the result of the call that needed it', async () => {
    server.on('init', refuse(403, 'pausedApp'))
    expect(await connect().license('KEY')).toMatchObject({ ok: false, code: 'pausedApp' })
    expect(server.calls()).toEqual(['init'])
  })

  it('names the invalid input', async () => {
    const errors = [{ path: 'email', message: 'Invalid email address' }]
    server.on('register', (seen) =>
      signed(seen, 400, { success: false, code: 'invalid_input', message: 'No', errors }),
    )
    const result = await connect().register({
      username: 'ada',
      password: 'secret',
      licenseKey: 'K',
      email: 'x',
    })
    expect(result).toEqual({ ok: false, code: 'invalid_input', message: 'No', errors })
  })

  it('of validate is ok: false although the call succeeded', async () => {
    server.on(
      'validate',
      succeed({ valid: false, code: 'keyBanned', license: null }, 'License key is banned'),
    )
    expect(await connect().validate('KEY')).toEqual({
      ok: false,
      code: 'keyBanned',
      message: 'License key is banned',
    })
  })

  it('cannot become ok: true through a field of the data', async () => {
    server.on('session', refuse(403, 'userBanned'), (seen) =>
      signed(seen, 403, {
        success: false,
        code: 'userBanned',
        message: 'No',
        ok: true,
        data: { ok: true, user },
      }),
    )
    const keyward = connect()
    expect((await keyward.session()).ok).toBe(false)
    expect((await keyward.session()).ok).toBe(false)
  })
})

describe('a session', () => {
  it('is reopened once if it expired before a sign-in', async () => {
    server.on('license', refuse(401, 'sessionUnauthed'), succeed({ user }))
    expect((await connect().license('KEY')).ok).toBe(true)
    expect(server.calls()).toEqual(['init', 'license', 'init', 'license'])
  })

  it('is not reopened endlessly', async () => {
    server.on('license', refuse(401, 'sessionUnauthed'))
    expect(await connect().license('KEY')).toMatchObject({ ok: false, code: 'sessionUnauthed' })
    expect(server.calls()).toEqual(['init', 'license', 'init', 'license'])
  })

  it('that expired after sign-in is reported by session()', async () => {
    const keyward = connect()
    await keyward.login({ username: 'ada', password: 'secret1' })
    server.on('session', refuse(401, 'sessionUnauthed'))
    expect(await keyward.session()).toMatchObject({ ok: false, code: 'sessionUnauthed' })
    expect(server.calls()).toEqual(['init', 'login', 'session'])
  })

  it('survives a ban, so that each next call reports the reason', async () => {
    const keyward = connect()
    await keyward.license('KEY')
    server.on('session', refuse(403, 'userBanned'), refuse(403, 'userBanned'), succeed({ user }))
    expect(await keyward.session()).toMatchObject({ code: 'userBanned' })
    expect(await keyward.session()).toMatchObject({ code: 'userBanned' })
    expect(await keyward.session()).toMatchObject({ ok: true })
    expect(server.calls()).toEqual(['init', 'license', 'session', 'session', 'session'])
  })

  it('is dropped at logout, which needs none and accepts an expired one', async () => {
    const keyward = connect()
    expect(await keyward.logout()).toEqual({ ok: true })
    expect(server.seen).toHaveLength(0)
    await keyward.license('KEY')
    server.on('logout', refuse(401, 'sessionUnauthed'))
    expect(await keyward.logout()).toEqual({ ok: true })
    await keyward.session()
    expect(server.calls()).toEqual(['init', 'license', 'logout', 'init', 'session'])
  })
})

describe('misuse', () => {
  it.each([
    ['no base address', { baseUrl: undefined }],
    ['an invalid base address', { baseUrl: 'licenses' }],
    ['another protocol', { baseUrl: 'ftp://example.com' }],
    ['a base address with a password', { baseUrl: 'https://a:b@example.com' }],
    ['a base address with a query', { baseUrl: 'https://example.com/?a=1' }],
    ['no app id', { appId: '' }],
    ['a secret that is not a string', { secret: 42 }],
    ['no version', { version: undefined }],
    ['no keys', { publicKeys: [] }],
    ['a private key', { publicKeys: [testKey] }],
    ['an empty hardware id', { hwid: '' }],
    ['a hardware id of 257 characters', { hwid: 'x'.repeat(257) }],
    ['a timeout of zero', { timeoutMs: 0 }],
    ['a timeout that is not a number', { timeoutMs: Number.NaN }],
    ['a fetch that is not a function', { fetch: 'fetch' }],
  ])('of the constructor throws: %s', (_, options) => {
    expect(() => connect(options as never)).toThrow(
      expect.objectContaining({ name: 'KeywardUsageError', code: 'invalid_options' }),
    )
  })

  it('of a call rejects without a request', async () => {
    const keyward = connect()
    const usage = { name: 'KeywardUsageError', code: 'invalid_argument' }
    await expect(keyward.license(undefined as never)).rejects.toMatchObject(usage)
    await expect(keyward.validate(7 as never)).rejects.toMatchObject(usage)
    await expect(keyward.login({ username: 'ada' } as never)).rejects.toMatchObject(usage)
    await expect(keyward.register(undefined as never)).rejects.toMatchObject(usage)
    await expect(keyward.upgrade({ username: 'ada' } as never)).rejects.toMatchObject(usage)
    for (const id of ['', '.', '..', '\ud800', 7 as never]) {
      await expect(keyward.freeDevice(id)).rejects.toMatchObject(usage)
    }
    expect(server.seen).toHaveLength(0)
  })

  it('warns about plain HTTP, except on this machine', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]:80', 'app.localhost'])
      connect({ baseUrl: `http://${host}` })
    connect({ baseUrl: 'https://licenses.example.com' })
    expect(warn).not.toHaveBeenCalled()
    connect({ baseUrl: 'http://licenses.example.com' })
    connect({ baseUrl: 'http://127.0.0.1.example.com' })
    expect(warn).toHaveBeenCalledTimes(2)
    warn.mockRestore()
  })

  it('accepts the key set as the server returns it', () => {
    expect(() => connect({ publicKeys: { keys: [toPublic(testKey)] } })).not.toThrow()
  })
})

describe('the hardware id', () => {
  it('is determined once, also by a function, and omitted when null', async () => {
    let asked = 0
    const keyward = connect({ hwid: async () => `machine-${++asked}` })
    await keyward.license('KEY')
    await keyward.license('KEY')
    expect(server.seen.map((one) => one.body?.hwid)).toEqual(['machine-1', 'machine-1', 'machine-1'])
    await connect({ hwid: null }).license('KEY')
    expect(server.seen.at(-1)?.body).toEqual({ licenseKey: 'KEY' })
  })

  it('is requested again after the function failed', async () => {
    let asked = 0
    const keyward = connect({ hwid: () => (++asked === 1 ? '' : 'machine') })
    await expect(keyward.license('KEY')).rejects.toMatchObject({ code: 'invalid_options' })
    expect((await keyward.license('KEY')).ok).toBe(true)
  })

  it('reports a function that throws as an error of the SDK', async () => {
    const cause = new Error('no USB key')
    const hwid = () => {
      throw cause
    }
    const error = await connect({ hwid })
      .license('KEY')
      .catch((error) => error)
    expect(error).toBeInstanceOf(KeywardUsageError)
    expect(error).toMatchObject({ code: 'hwid_unavailable', cause })
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('no USB key')), 'hwid_unavailable'],
    ['throws nothing', () => Promise.reject(undefined), 'hwid_unavailable'],
    ['returns nothing', () => undefined, 'invalid_options'],
    ['returns null', () => null, 'invalid_options'],
    ['returns a number', () => 42, 'invalid_options'],
    ['returns an object', async () => ({ id: 'hw-1' }), 'invalid_options'],
    ['returns 257 characters', () => 'x'.repeat(257), 'invalid_options'],
  ])(
    'reports a function that %s as a usage error of every call, and sends nothing',
    async (_, hwid, code) => {
      const keyward = connect({
        hwid: hwid as never,
        storage: { read: async () => null, write: async () => {} },
      })
      const credentials = { username: 'ada', password: 'secret' }
      const calls = [
        () => keyward.init(),
        () => keyward.login(credentials),
        () => keyward.register({ ...credentials, licenseKey: 'KEY' }),
        () => keyward.license('KEY'),
        () => keyward.upgrade({ username: 'ada', licenseKey: 'KEY' }),
        () => keyward.session(),
        () => keyward.trial(),
        () => keyward.devices(),
        () => keyward.validate('KEY'),
      ]
      for (const call of calls) {
        const error = await call().catch((error) => error)
        expect(error).toBeInstanceOf(KeywardUsageError)
        expect(error.code).toBe(code)
      }
      expect(server.seen).toHaveLength(0)
    },
  )

  it('defaults to 64 hexadecimal digits that identify the machine', async () => {
    await connect({ hwid: undefined }).license('KEY')
    expect(server.seen.at(-1)?.body?.hwid).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('a response that violates the protocol', () => {
  it.each([
    ['init without a session', 'init', { app: {}, expiresAt: 'x' }],
    ['init with a session that cannot be a header', 'init', { session: 'a\nb', app: {} }],
    ['session without a user', 'session', {}],
  ])('is an error although signed: %s', async (_, name, data) => {
    server.on(name, succeed(data))
    await expect(connect().session()).rejects.toMatchObject({
      name: 'KeywardNetworkError',
      code: 'unexpected_answer',
    })
  })

  it('is an error if it is not JSON', async () => {
    server.on('session', (seen) => ({ ...signed(seen, 200, ''), body: '""' }), plain(200))
    await expect(connect().session()).rejects.toMatchObject({ code: 'unexpected_answer' })
  })
})
