import { execFile } from 'node:child_process'
import { createHash, sign } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeRequest, readActivation } from '../src/activation.ts'
import { toCrockford } from '../src/crockford.ts'
import { Keyward, type KeywardOptions } from '../src/index.ts'
import { toKeyRing } from '../src/keys.ts'
import { readLease } from '../src/lease.ts'
import { otherKey, testKey, toPublic } from './signer.ts'
import { refuse, type StandIn, startStandIn, succeed, user } from './stand-in.ts'

const day = 86_400
const now = () => Math.floor(Date.now() / 1000)
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest()

/** Reads a request like the console, independent of the SDK's code. */
function readRequest(text: string) {
  expect(text).toMatch(/^KWR1-([0-9A-HJKMNP-TV-Z]{5}-)*[0-9A-HJKMNP-TV-Z]{1,5}$/)
  const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  const binary = [...text.slice(5).replaceAll('-', '')]
    .map((one) => symbols.indexOf(one).toString(2).padStart(5, '0'))
    .join('')
  const bytes = Buffer.from(binary.match(/.{8}/g)!.map((bits) => Number.parseInt(bits, 2)))
  const body = bytes.subarray(0, -4)
  expect(bytes.subarray(-4)).toEqual(sha256(Buffer.concat([Buffer.from('app12345'), body])).subarray(0, 4))
  return {
    version: body[0],
    nonce: body.subarray(1, 9).toString('hex'),
    hwid: body.subarray(9, 41).toString('hex'),
    licenseKey: body.subarray(41).toString(),
  }
}

const claimsFor = (nonce: string) => ({
  iss: 'keyward',
  aud: 'app12345',
  sub: user._id,
  hwid: sha256('hw-1').toString('hex'),
  nonce,
  iat: now(),
  exp: now() + 30 * day,
  seq: 1,
  features: ['pro'],
  username: 'KEY',
  term: 'date',
  expiresAt: new Date((now() + 20 * day) * 1000).toISOString(),
  deactivation: 'KWD1-AAAA-BBBB-CCCC-DDDD',
})

function makeLine(claims: object, { key = testKey, header = {} as object } = {}): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const input = [{ alg: 'EdDSA', typ: 'keyward-activation+jws', kid: key.kid, ...header }, claims]
    .map(encode)
    .join('.')
  const signature = sign(null, Buffer.from(input), { key, format: 'jwk' } as never)
  return `${input}.${signature.toString('base64url')}`
}

const makeFile = (request: string, claims: object = {}, how: Parameters<typeof makeLine>[1] = {}) =>
  makeLine({ ...claimsFor(readRequest(request).nonce), ...claims }, how)

let text = ''
const storage = {
  read: async () => text,
  write: async (changed: string) => {
    text = changed
  },
}
let server: StandIn

beforeEach(async () => {
  text = ''
  server = await startStandIn()
})
afterEach(async () => {
  vi.useRealTimers()
  await server.close()
})

const start = (options: Partial<KeywardOptions> = {}) =>
  new Keyward({
    baseUrl: 'http://127.0.0.1:9',
    publicKeys: [toPublic(testKey)],
    appId: 'app12345',
    secret: 's',
    version: '1.2.0',
    hwid: 'hw-1',
    timeoutMs: 300,
    storage,
    ...options,
  })
// A busy machine may take longer for a response than machines wait that are never online.
const online = (options: Partial<KeywardOptions> = {}) =>
  start({ baseUrl: server.baseUrl, publicKeys: server.publicKeys, timeoutMs: 60_000, ...options })
const later = (seconds: number) => vi.useFakeTimers({ now: Date.now() + seconds * 1000, toFake: ['Date'] })

async function activated(claims: object = {}, keyward = start()) {
  const file = makeFile(await keyward.offlineRequest('KEY'), claims)
  await keyward.activateOffline(file)
  return { keyward, file }
}

const rejected = { name: 'KeywardUsageError', code: 'activation_rejected' }
const noLease = { name: 'KeywardNetworkError', offline: 'no_lease' }

describe('an activation request', () => {
  it('names the key and the machine, and stays the same until a file answers it', async () => {
    const keyward = start()
    const request = await keyward.offlineRequest(' KEY-ü \n')
    expect(readRequest(request)).toEqual({
      version: 1,
      nonce: expect.stringMatching(/^[0-9a-f]{16}$/),
      hwid: sha256('hw-1').toString('hex'),
      licenseKey: 'KEY-ü',
    })
    expect(await start().offlineRequest('KEY-ü')).toBe(request)
    await keyward.activateOffline(makeFile(request))
    const next = await keyward.offlineRequest('KEY-ü')
    expect(readRequest(next).nonce).not.toBe(readRequest(request).nonce)
  })

  it('is one per key: that for another key replaces it', async () => {
    const keyward = start()
    const first = await keyward.offlineRequest('ONE')
    await keyward.offlineRequest('TWO')
    await expect(keyward.activateOffline(makeFile(first))).rejects.toMatchObject(rejected)
  })

  it('has known bytes', async () => {
    const facts = { appId: 'app12345', hwid: 'hw-1', licenseKey: 'KEY' }
    const request = await encodeRequest({ ...facts, nonce: Buffer.from('0001020304050607', 'hex') })
    expect(request).toBe(
      'KWR1-04002-0G30G-2GC1S-TC4D1-ADR3K-XGWHK-WFEF1-ZBYAB-8K0P4-HXA5P-B2ERR-A50ZJ-V5J2Y-S5MAP-AK2RB-DM',
    )
    expect(readRequest(request)).toMatchObject({ nonce: '0001020304050607', licenseKey: 'KEY' })
    expect(toCrockford(Uint8Array.of())).toBe('')
    expect(toCrockford(Uint8Array.of(255))).toBe('ZW')
    expect(toCrockford(Buffer.from('foobar'))).toBe('CSQPYRK1E8')
  })

  it.each([
    ['no key', ''],
    ['blanks', '   '],
    ['a key that is too long', 'x'.repeat(101)],
    ['no text', 7 as unknown as string],
  ])('is not made for %s', async (_, key) => {
    await expect(start().offlineRequest(key)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('needs storage and a hardware id', async () => {
    const none = start({ storage: undefined })
    for (const call of [none.offlineRequest('KEY'), none.activateOffline('x'), none.deactivateOffline()]) {
      await expect(call).rejects.toMatchObject({ code: 'invalid_options' })
    }
    await expect(start({ hwid: null }).offlineRequest('KEY')).rejects.toMatchObject({
      code: 'hwid_unavailable',
    })
  })

  it('and a deactivation fail while the storage cannot be written or read', async () => {
    const full = { read: storage.read, write: () => Promise.reject(new Error('disk full')) }
    const broken = { read: () => Promise.reject(new Error('disk broken')), write: storage.write }
    const failed = { name: 'KeywardUsageError', code: 'storage_failed' }
    await expect(start({ storage: full }).offlineRequest('KEY')).rejects.toMatchObject(failed)
    await expect(start({ storage: broken }).offlineRequest('KEY')).rejects.toMatchObject(failed)
    await activated()
    await expect(start({ storage: full }).deactivateOffline()).rejects.toMatchObject(failed)
    expect(await start().session()).toMatchObject({ ok: true })
  })
})

describe('a machine that is never online', () => {
  it('runs with its file, also after a restart, until the file ends', async () => {
    const { keyward } = await activated()
    expect(keyward.has('pro')).toBe(true)
    const restarted = start()
    const until = new Date((now() + 30 * day) * 1000).toISOString()
    expect(await restarted.session()).toMatchObject({
      ok: true,
      user: { _id: user._id, username: 'KEY', term: 'date', inGrace: false, features: ['pro'] },
      offline: { until: expect.stringContaining(until.slice(0, 17)), inGrace: false },
    })
    expect(restarted.has('pro')).toBe(true)
    expect(restarted.has('max')).toBe(false)
    expect(await start().license(' KEY ')).toMatchObject({ ok: true, user: { _id: user._id } })
    later(21 * day)
    expect(await start().session()).toMatchObject({ ok: true, user: { inGrace: true } })
    later(10 * day)
    await expect(start().session()).rejects.toMatchObject({ offline: 'lease_ended' })
  })

  it('runs forever with a file that never ends', async () => {
    await activated({ exp: null, expiresAt: null, term: 'forever' })
    later(20_000 * day)
    expect(await start().session()).toMatchObject({
      ok: true,
      user: { expiresAt: null, inGrace: false },
      offline: { until: null, graceUntil: null, inGrace: false },
    })
  })

  it('gets no access with another key, in another app or on another machine', async () => {
    await activated()
    await expect(start().license('OTHER')).rejects.toMatchObject(noLease)
    await expect(start({ hwid: 'hw-2' }).session()).rejects.toMatchObject(noLease)
    await expect(start({ appId: 'app54321' }).session()).rejects.toMatchObject(noLease)
    await expect(start({ publicKeys: [toPublic(otherKey)] }).session()).rejects.toMatchObject(noLease)
  })

  it('is not fooled by a clock that was set back', async () => {
    await activated()
    later(10 * day)
    expect(await start().session()).toMatchObject({ ok: true })
    later(-5 * day)
    await expect(start().session()).rejects.toMatchObject({ offline: 'clock_set_back' })
    const request = await start().offlineRequest('KEY')
    const ahead = makeFile(request, { iat: now() + 15 * 3_600 })
    await expect(start().activateOffline(ahead)).rejects.toThrow(/clock/)
    expect(await start().activateOffline(makeFile(request))).toMatchObject({ ok: true })
    expect(await start().session()).toMatchObject({ ok: true })
  })

  it('accepts the line of a key that the program pins', async () => {
    const keyward = start()
    const request = await keyward.offlineRequest('KEY')
    const file = `${makeFile(request, {}, { key: otherKey })}\r\n ${makeFile(request)} \n`
    expect(await keyward.activateOffline(file)).toMatchObject({ ok: true })
  })

  it('shares the activation with another process that has only the folder in common', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyward-activation-'))
    const run = promisify(execFile)
    const call = async (method: string, ...args: string[]): Promise<unknown> => {
      const script = `
        import { Keyward } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
        const keyward = new Keyward(${JSON.stringify({
          baseUrl: 'http://127.0.0.1:9',
          publicKeys: [toPublic(testKey)],
          appId: 'app12345',
          secret: 's',
          version: '1.2.0',
          hwid: 'hw-1',
          timeoutMs: 300,
          storage: 'user-data',
        })})
        const [method, ...args] = process.argv.slice(1)
        console.log(JSON.stringify(await keyward[method](...args).catch(({ code, offline }) => ({ code, offline }))))`
      const env = { ...process.env, XDG_STATE_HOME: folder, LOCALAPPDATA: folder, HOME: folder }
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, method, ...args], {
        env,
      })
      return JSON.parse(stdout)
    }
    try {
      const request = String(await call('offlineRequest', 'KEY'))
      const file = makeFile(request)
      expect(await call('activateOffline', file)).toMatchObject({ ok: true })
      expect(await call('session')).toMatchObject({ ok: true, user: { features: ['pro'] } })
      expect(await call('deactivateOffline')).toBe('KWD1-AAAA-BBBB-CCCC-DDDD')
      expect(await call('session')).toMatchObject({ offline: 'no_lease' })
      expect(await call('activateOffline', file)).toMatchObject({ code: 'activation_rejected' })
    } finally {
      rmSync(folder, { recursive: true })
    }
  }, 60_000)
})

describe('an activation file', () => {
  it.each<[string, (request: string) => string]>([
    ['nothing', () => ''],
    ['rubbish', () => 'x.y.z\n\0'],
    ['a megabyte', (request) => `${'A'.repeat(1_000_001)}\n${makeFile(request)}`],
    ['an unknown key', (request) => makeFile(request, {}, { key: otherKey })],
    ['a borrowed kid', (request) => makeFile(request, {}, { key: otherKey, header: { kid: testKey.kid } })],
    ['the type of a lease', (request) => makeFile(request, {}, { header: { typ: 'keyward-lease+jws' } })],
    ['another algorithm', (request) => makeFile(request, {}, { header: { alg: 'none' } })],
    ['another issuer', (request) => makeFile(request, { iss: 'else' })],
    ['another app', (request) => makeFile(request, { aud: 'app54321' })],
    ['another machine', (request) => makeFile(request, { hwid: sha256('hw-2').toString('hex') })],
    ['another request', (request) => makeFile(request, { nonce: '0000000000000000' })],
    ['no nonce', (request) => makeFile(request, { nonce: undefined })],
    ['an end that has passed', (request) => makeFile(request, { exp: now() })],
    ['no statement of its end', (request) => makeFile(request, { exp: undefined })],
    ['an end that is text', (request) => makeFile(request, { exp: '9999999999' })],
    ['a start in the future', (request) => makeFile(request, { iat: now() + 15 * 3600 })],
    ['no features', (request) => makeFile(request, { features: undefined })],
    ['no code', (request) => makeFile(request, { deactivation: undefined })],
  ])('with %s is rejected, and the request still waits', async (_, make) => {
    const keyward = start()
    const request = await keyward.offlineRequest('KEY')
    await expect(keyward.activateOffline(make(request))).rejects.toMatchObject(rejected)
    await expect(start().session()).rejects.toMatchObject(noLease)
    expect(await keyward.activateOffline(makeFile(request))).toMatchObject({ ok: true })
  })

  it('is rejected without a request, and a second time', async () => {
    const nonce = '0011223344556677'
    await expect(start().activateOffline(makeLine(claimsFor(nonce)))).rejects.toMatchObject(rejected)
    const { keyward, file } = await activated()
    await expect(keyward.activateOffline(file)).rejects.toMatchObject(rejected)
    expect(await keyward.session()).toMatchObject({ ok: true })
  })

  it('never passes for a lease, and a lease never for one', async () => {
    const facts = { appId: 'app12345', hwid: 'hw-1', keys: toKeyRing([toPublic(testKey)]) }
    const claims = { ...claimsFor('0011223344556677'), refreshAfter: now(), graceUntil: now() + day }
    const lease = makeLine(claims, { header: { typ: 'keyward-lease+jws' } })
    expect(await readLease(lease, facts)).toBeDefined()
    expect(await readActivation(lease, facts)).toBeUndefined()
    expect(await readActivation(makeLine(claims), facts)).toBeDefined()
    expect(await readLease(makeLine(claims), facts)).toBeUndefined()
  })

  it('is rejected with any bit changed', async () => {
    const facts = { appId: 'app12345', hwid: 'hw-1', keys: toKeyRing([toPublic(testKey)]) }
    const line = makeLine(claimsFor('0011223344556677'))
    expect(await readActivation(line, facts)).toBeDefined()
    const parts = line.split('.').map((part) => Buffer.from(part, 'base64url'))
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 2 }), fc.nat(), async (part, at) => {
        const bit = at % (parts[part]!.length * 8)
        const forged = parts.map((bytes, index) => {
          const copy = Buffer.from(bytes)
          if (index === part) copy[bit >> 3]! ^= 1 << (bit & 7)
          return copy.toString('base64url')
        })
        expect(await readActivation(forged.join('.'), facts)).toBeUndefined()
      }),
      { numRuns: 1_000 },
    )
  })

  it('copied into the storage with the nonce of another request is ignored', async () => {
    const { file } = await activated()
    const kept = JSON.parse(text)
    expect(kept.activation).toEqual({
      file,
      nonce: expect.any(String),
      licenseKey: sha256('KEY').toString('hex'),
    })
    text = JSON.stringify({ ...kept, activation: { ...kept.activation, nonce: '0000000000000000' } })
    await expect(start().session()).rejects.toMatchObject(noLease)
  })
})

describe('a deactivation', () => {
  it('returns the code once, and its file works no more', async () => {
    const { keyward, file } = await activated()
    const waiting = await keyward.offlineRequest('KEY')
    expect(await keyward.deactivateOffline()).toBe('KWD1-AAAA-BBBB-CCCC-DDDD')
    expect(keyward.has('pro')).toBe(false)
    await expect(keyward.deactivateOffline()).rejects.toMatchObject({ code: 'no_activation' })
    await expect(keyward.session()).rejects.toMatchObject(noLease)
    for (const late of [file, makeFile(waiting)]) {
      await expect(keyward.activateOffline(late)).rejects.toMatchObject(rejected)
    }
    await keyward.offlineRequest('KEY')
    await expect(keyward.activateOffline(file)).rejects.toMatchObject(rejected)
  })

  it('still returns the code after the file has ended', async () => {
    await activated()
    later(31 * day)
    expect(await start().deactivateOffline()).toBe('KWD1-AAAA-BBBB-CCCC-DDDD')
  })
})

describe('an activated machine that reaches the server', () => {
  beforeEach(() => {
    server.on('session', refuse(401, 'sessionUnauthed'))
    server.on('logout', succeed({}))
  })

  it('runs on while no user is signed in', async () => {
    await activated()
    const keyward = online()
    expect(await keyward.session()).toMatchObject({ ok: true, user: { features: ['pro'] }, offline: {} })
    expect(keyward.has('pro')).toBe(true)
    await keyward.logout()
    expect(await keyward.session()).toMatchObject({ ok: true, offline: {} })
  })

  it.each(['userBanned', 'keyBanned', 'noActiveSubs', 'pausedSub', 'hwidBlacklisted'])(
    'stops for good after the refusal %s',
    async (code) => {
      await activated()
      server.on('session', refuse(403, code))
      expect(await online().session()).toMatchObject({ ok: false, code })
      await expect(start().session()).rejects.toMatchObject(noLease)
      await expect(start().deactivateOffline()).rejects.toMatchObject({ code: 'no_activation' })
    },
  )

  it('keeps the activation after a refusal that says nothing about the license', async () => {
    await activated()
    server.on('license', refuse(404, 'keyNotFound'))
    expect(await online().license('TYPO')).toMatchObject({ ok: false, code: 'keyNotFound' })
    expect(await start().session()).toMatchObject({ ok: true })
  })

  it('prefers a lease, and falls back to the activation when the lease has ended', async () => {
    await activated()
    const lease = makeLine(
      { ...claimsFor(''), iat: now(), refreshAfter: now(), exp: now() + day, graceUntil: now() + day },
      { header: { typ: 'keyward-lease+jws' } },
    )
    server.on('license', succeed({ user }))
    server.on('lease', succeed({ lease }))
    expect(await online().license('KEY')).toMatchObject({ ok: true })
    const until = async () => {
      const result = await start().session()
      return result.ok ? Date.parse(result.offline?.until ?? '') / 1000 : 0
    }
    expect(await until()).toBeLessThan(now() + 2 * day)
    later(2 * day)
    expect(await until()).toBeGreaterThan(now() + 20 * day)
  })

  it('keeps what another version of the SDK has stored', async () => {
    await activated()
    text = JSON.stringify({ ...JSON.parse(text), later: { more: 1 } })
    server.on('session', refuse(403, 'userBanned'))
    await online().session()
    expect(JSON.parse(text)).toMatchObject({ later: { more: 1 } })
  })
})
