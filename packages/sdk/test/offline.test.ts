import { createHash, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Keyward, type KeywardOptions, type KeywardStorage, type LogEvent } from '../src/index.ts'
import { toKeyRing } from '../src/keys.ts'
import { readLease } from '../src/lease.ts'
import { userDataFile } from '../src/user-data.ts'
import { otherKey, testKey, toPublic } from './signer.ts'
import { type Behaviour, refuse, type StandIn, startStandIn, succeed, user } from './stand-in.ts'

const hour = 3600
const now = () => Math.floor(Date.now() / 1000)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

let seq = 0
function makeLease(claims: object = {}, { key = testKey, header = {} as object } = {}): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const input = [
    { alg: 'EdDSA', typ: 'keyward-lease+jws', kid: key.kid, ...header },
    {
      iss: 'keyward',
      aud: 'app12345',
      sub: user._id,
      hwid: sha256('hw-1'),
      iat: now(),
      refreshAfter: now() + 36 * hour,
      exp: now() + 72 * hour,
      graceUntil: now() + 240 * hour,
      seq: ++seq,
      features: ['pro'],
      ...claims,
    },
  ]
    .map(encode)
    .join('.')
  const signature = sign(null, Buffer.from(input), { key, format: 'jwk' } as never)
  return `${input}.${signature.toString('base64url')}`
}

function memory(): KeywardStorage & { text: string } {
  return {
    text: '',
    async read() {
      return this.text
    },
    async write(text) {
      this.text = text
    },
  }
}

/** Takes a while to read and to write, like a disk. */
function slow(from: ReturnType<typeof memory>): ReturnType<typeof memory> {
  const later = () => new Promise((resolve) => setTimeout(resolve, 5))
  return {
    text: from.text,
    async read() {
      const { text } = this
      await later()
      return text
    },
    async write(text) {
      await later()
      this.text = text
    },
  }
}

let server: StandIn
let storage: ReturnType<typeof memory>

beforeEach(async () => {
  server = await startStandIn()
  storage = memory()
  for (const name of ['license', 'login', 'session'] as const) server.on(name, succeed({ user }))
  server.on('lease', (...call) => succeed({ lease: makeLease() })(...call))
  server.on('logout', succeed({}))
})
afterEach(async () => {
  vi.useRealTimers()
  await server.close()
})

/** A program that starts: nothing but the storage outlives the last run. */
const start = (options: Partial<KeywardOptions> = {}) =>
  new Keyward({
    baseUrl: server.baseUrl,
    publicKeys: server.publicKeys,
    appId: 'app12345',
    secret: 's',
    version: '1.2.0',
    hwid: 'hw-1',
    timeoutMs: 10_000,
    storage,
    ...options,
  })
const unreachable = { baseUrl: 'http://127.0.0.1:9', timeoutMs: 300 }
const later = (seconds: number) => vi.useFakeTimers({ now: Date.now() + seconds * 1000, toFake: ['Date'] })

describe('a program without its server', () => {
  it('runs with the lease of its last sign-in, and says so', async () => {
    expect(await start().license('KEY')).toEqual({ ok: true, user })
    const offline = await start(unreachable).session()
    expect(offline).toMatchObject({
      ok: true,
      user: { _id: user._id, username: user.username, features: ['pro'] },
      offline: { inGrace: false },
    })
    expect(await start(unreachable).license('KEY')).toMatchObject({ ok: true, offline: { inGrace: false } })
    expect(await start().session()).not.toHaveProperty('offline')
  })

  it('loses what the license includes at a sign-out, also without a session', async () => {
    await start().license('KEY')
    const keyward = start(unreachable)
    await keyward.session()
    expect(keyward.has('pro')).toBe(true)
    expect(await keyward.logout()).toEqual({ ok: true })
    expect(keyward.has('pro')).toBe(false)
  })

  it('says so to the log hook, with the reason', async () => {
    await start().license('KEY')
    const events: LogEvent[] = []
    const closed = await startStandIn()
    await closed.close()
    await start({ baseUrl: closed.baseUrl, timeoutMs: 30_000, log: (event) => events.push(event) }).session()
    expect(events.at(-1)).toEqual({ event: 'offline', call: 'session', code: 'unreachable' })
  })

  it('warns after the lease, and stops after its grace', async () => {
    await start().license('KEY')
    later(73 * hour)
    expect(await start(unreachable).session()).toMatchObject({ ok: true, offline: { inGrace: true } })
    later(168 * hour)
    await expect(start(unreachable).session()).rejects.toMatchObject({
      name: 'KeywardNetworkError',
      offline: 'lease_ended',
    })
  })

  it('is not fooled by a clock that was set back', async () => {
    await start().license('KEY')
    later(200 * hour)
    expect((await start(unreachable).session()).ok).toBe(true)
    later(-100 * hour)
    await expect(start(unreachable).session()).rejects.toMatchObject({ offline: 'clock_set_back' })
  })

  it('gets no access on another device, in another app, or with another key', async () => {
    await start().license('KEY')
    const no = { offline: 'no_lease' }
    await expect(start({ ...unreachable, hwid: 'hw-2' }).session()).rejects.toMatchObject(no)
    await expect(start({ ...unreachable, appId: 'app54321' }).session()).rejects.toMatchObject(no)
    await expect(start(unreachable).license('OTHER')).rejects.toMatchObject(no)
    await expect(start({ ...unreachable, publicKeys: toPublic(otherKey) }).session()).rejects.toMatchObject(
      no,
    )
  })

  it('gets none after a refusal or a sign-out', async () => {
    const keyward = start()
    await keyward.license('KEY')
    server.on('session', refuse(403, 'userBanned'))
    await keyward.session()
    await expect(start(unreachable).session()).rejects.toMatchObject({ offline: 'no_lease' })
    server.on('session', succeed({ user }))
    await keyward.license('KEY')
    expect((await start(unreachable).session()).ok).toBe(true)
    await keyward.logout()
    await expect(start(unreachable).session()).rejects.toMatchObject({ offline: 'no_lease' })
  })

  it('never signs in by a password that nobody can check', async () => {
    await start().login({ username: 'ada', password: 'secret' })
    await expect(start(unreachable).login({ username: 'ada', password: 'x' })).rejects.toMatchObject({
      name: 'KeywardNetworkError',
    })
  })

  it('treats an unsigned answer like a cut connection, and a forged one like an attack', async () => {
    await start().license('KEY')
    server.on('init', (_, response) => void response.writeHead(302, { location: '/portal' }).end())
    expect(await start().session()).toMatchObject({ ok: true, offline: { inGrace: false } })
    server.on('init', (_, response) => void response.writeHead(403).end('error code: 1010'))
    expect(await start().session()).toMatchObject({ ok: true, offline: { inGrace: false } })
    await expect(start().login({ username: 'ada', password: 'x' })).rejects.toMatchObject({
      name: 'KeywardNetworkError',
      code: 'blocked',
      status: 403,
      outcomeUnknown: true,
    })
    const broken = { signature: 'keyward=:AA' }
    server.on('init', (_, response) => void response.writeHead(403, broken).end('error code: 1010'))
    await expect(start().session()).rejects.toMatchObject({
      name: 'KeywardSignatureError',
      code: 'malformed_signature',
    })
  })
})

describe('a remembered sign-in', () => {
  const granted = (deviceToken: string) => succeed({ user, deviceToken })
  const bodies = (name: string) =>
    server.seen.filter(({ path }) => path.endsWith(`/${name}`)).map(({ body }) => body)

  it('signs in again after a restart, with a token that works once', async () => {
    server.on('license', granted('token-1'))
    server.on('resume', granted('token-2'), granted('token-3'))
    expect(await start().license('KEY')).toEqual({ ok: true, user })
    expect(bodies('license')).toMatchObject([{ licenseKey: 'KEY', remember: true }])
    expect(await start().session()).toEqual({ ok: true, user })
    expect(await start().session()).toEqual({ ok: true, user })
    expect(bodies('resume')).toMatchObject([
      { deviceToken: 'token-1', hwid: 'hw-1' },
      { deviceToken: 'token-2', hwid: 'hw-1' },
    ])
  })

  it('signs in again after a session that ended, and forgets a token that the server refuses', async () => {
    server.on('license', granted('token-1'))
    const keyward = start()
    await keyward.license('KEY')
    server.on('session', refuse(401, 'sessionUnauthed'))
    server.on('resume', granted('token-2'))
    expect(await keyward.session()).toEqual({ ok: true, user })
    server.on('resume', refuse(401, 'sessionUnauthed'))
    expect(await start().session()).toMatchObject({ ok: false, code: 'sessionUnauthed' })
    expect(JSON.parse(storage.text).deviceToken).toBeUndefined()
  })

  it('reports a ban, keeps the token, and ends at logout', async () => {
    server.on('license', granted('token-1'))
    const keyward = start()
    await keyward.license('KEY')
    server.on('resume', refuse(403, 'userBanned'))
    expect(await start().session()).toMatchObject({ ok: false, code: 'userBanned' })
    expect(JSON.parse(storage.text).deviceToken).toBe('token-1')
    await keyward.logout()
    expect(storage.text).not.toContain('token-1')
  })

  it('signs in again once for concurrent calls, and keeps the latest token and the lease', async () => {
    server.on('license', granted('token-1'))
    await start().license('KEY')
    server.on('resume', granted('token-2'), granted('token-3'))
    storage = slow(storage)
    const keyward = start()
    const results = await Promise.all([keyward.session(), keyward.session(), keyward.session()])
    expect(results).toEqual([1, 2, 3].map(() => ({ ok: true, user })))
    expect(bodies('resume')).toHaveLength(1)
    expect(JSON.parse(storage.text)).toMatchObject({
      deviceToken: 'token-2',
      lease: expect.stringMatching(/./),
    })
  })

  it('uses the newer token that another program stored when its own is refused', async () => {
    server.on('license', granted('token-1'))
    await start().license('KEY')
    server.on('session', refuse(401, 'sessionUnauthed'))
    const stored: Behaviour = (seen, response) => {
      storage.text = storage.text.replace('token-1', 'token-2')
      return refuse(401, 'sessionUnauthed')(seen, response)
    }
    server.on('resume', stored, granted('token-3'))
    expect(await start().session()).toEqual({ ok: true, user })
    expect(bodies('resume')).toMatchObject([{ deviceToken: 'token-1' }, { deviceToken: 'token-2' }])
    expect(JSON.parse(storage.text).deviceToken).toBe('token-3')
  })

  it('and its lease stay forgotten if the user signs out during a call', async () => {
    server.on('license', granted('token-1'))
    for (const name of ['license', 'lease']) {
      const keyward = start()
      await keyward.init()
      let signedOut: Promise<unknown> | undefined
      const usual = name === 'lease' ? succeed({ lease: makeLease() }) : granted('token-1')
      server.on(name, (seen, response) => {
        signedOut = keyward.logout()
        return usual(seen, response)
      })
      await keyward.license('KEY')
      await signedOut
      expect(JSON.parse(storage.text)).toMatchObject({ lease: '', user: null })
      expect(storage.text).not.toContain('token-1')
      server.on('license', granted('token-1'))
    }
  })
})

describe('the lease', () => {
  it('is renewed when it is due, and only then', async () => {
    const keyward = start()
    await keyward.license('KEY')
    await keyward.session()
    await keyward.session()
    const count = () => server.calls().filter((name) => name === 'lease').length
    expect(count()).toBe(1)
    later(37 * hour)
    await keyward.session()
    expect(count()).toBe(2)
  })

  it('does not delay or fail a program that is online', async () => {
    server.on('lease', refuse(500, 'internal'))
    storage.write = () => Promise.reject(new Error('disk full'))
    storage.read = () => Promise.reject(new Error('disk broken'))
    expect((await start().license('KEY')).ok).toBe(true)
    expect((await start().session()).ok).toBe(true)
  })

  it('is never replaced by an older one', async () => {
    const newest = makeLease({ seq: 1_000 })
    server.on('lease', succeed({ lease: newest }))
    await start().license('KEY')
    server.on('lease', succeed({ lease: makeLease({ seq: 999 }) }))
    await start().license('KEY')
    expect(JSON.parse(storage.text).lease).toBe(newest)
  })

  it('is asked for by no program without storage or hardware id', async () => {
    await start({ storage: undefined }).license('KEY')
    await start({ hwid: null }).license('KEY')
    expect(server.calls()).not.toContain('lease')
  })
})

describe('readLease', () => {
  const facts = { appId: 'app12345', hwid: 'hw-1', keys: toKeyRing([toPublic(testKey)]) }

  it.each([
    ['another type', makeLease({}, { header: { typ: 'JWT' } })],
    ['no type', makeLease({}, { header: { typ: undefined } })],
    ['another algorithm', makeLease({}, { header: { alg: 'none' } })],
    ['an unknown key', makeLease({}, { key: otherKey })],
    ['a borrowed kid', makeLease({}, { key: otherKey, header: { kid: testKey.kid } })],
    ['another issuer', makeLease({ iss: 'else' })],
    ['another app', makeLease({ aud: 'app54321' })],
    ['another device', makeLease({ hwid: sha256('hw-2') })],
    ['a part too many', `${makeLease()}.AAAA`],
    ['no signature', makeLease().split('.').slice(0, 2).join('.')],
  ])('rejects a lease with %s', async (_, lease) => {
    expect(await readLease(lease, facts)).toBeUndefined()
  })

  it('rejects a lease in which any bit is changed', async () => {
    const lease = makeLease()
    expect(await readLease(lease, facts)).toMatchObject({ sub: user._id })
    const parts = lease.split('.').map((part) => Buffer.from(part, 'base64url'))
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 2 }), fc.nat(), async (part, at) => {
        const bit = at % (parts[part]!.length * 8)
        const forged = parts.map((bytes, index) => {
          const copy = Buffer.from(bytes)
          if (index === part) copy[bit >> 3]! ^= 1 << (bit & 7)
          return copy.toString('base64url')
        })
        expect(await readLease(forged.join('.'), facts)).toBeUndefined()
      }),
      { numRuns: 1_000 },
    )
  })
})

describe("the file in the user's data folder", () => {
  it('stops no program whose own storage has a lock that fails', async () => {
    const fail = () => {
      throw new Error('no lock')
    }
    for (const lock of [fail, async () => fail()]) {
      expect((await start({ storage: { ...storage, lock } }).license('KEY')).ok).toBe(true)
    }
  })

  it('keeps what several programs store at the same time', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyward-data-'))
    try {
      // On a slow disk a program would go on without the lock, after two seconds.
      vi.useFakeTimers({ toFake: ['performance'] })
      server.on('license', succeed({ user, deviceToken: 'token-1' }))
      const programs = Array.from({ length: 8 }, () => start({ storage: userDataFile('app12345', folder) }))
      await Promise.all(
        programs.map(async (program, at) =>
          at === 0 ? program.offlineRequest('NEVER-ONLINE') : program.license('KEY'),
        ),
      )
      expect(JSON.parse((await userDataFile('app12345', folder).read())!)).toMatchObject({
        lease: expect.stringMatching(/^ey/),
        deviceToken: 'token-1',
        activation: { pending: { nonce: expect.stringMatching(/^[0-9a-f]{16}$/) } },
      })
    } finally {
      vi.useRealTimers()
      rmSync(folder, { recursive: true })
    }
  })

  it('works in a folder that cannot be written, as far as it can', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyward-data-'))
    try {
      writeFileSync(join(folder, 'keyward'), 'a file in place of the folder')
      // A program that waits for the lock would wait forever.
      vi.useFakeTimers({ toFake: ['performance'] })
      expect((await start({ storage: userDataFile('app12345', folder) }).license('KEY')).ok).toBe(true)
    } finally {
      vi.useRealTimers()
      rmSync(folder, { recursive: true })
    }
  })

  it('is refused as an option where the user has no home folder', () => {
    for (const name of ['XDG_STATE_HOME', 'LOCALAPPDATA', 'HOME', 'USERPROFILE']) vi.stubEnv(name, '')
    try {
      expect(() => start({ storage: 'user-data' })).toThrow(
        expect.objectContaining({ name: 'KeywardUsageError', code: 'invalid_options' }),
      )
    } finally {
      vi.unstubAllEnvs()
    }
  })
})
