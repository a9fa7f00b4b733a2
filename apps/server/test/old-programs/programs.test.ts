import { createPrivateKey, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { decrypt, encrypt } from './encrypted.ts'
import { cpp12, cSharp12, go12, hmac, javaScript12, keyedSdks, php12, python12 } from './keyed.ts'
import { type OldApp, OldProgram, ProgramDied, type Sdk } from './program.ts'
import { oldSdks } from './sdks.ts'
import { cpp2025, cpp2026, cSharp13, go13, isSigned, php13, python13, react13, timedSdks } from './timed.ts'
import { bareGet } from './unsigned.ts'
import { type Fields, overSocket, type WireAnswer, type WireRequest } from './wire.ts'

const seed = 'd51cf2b08247e355e96389448828d69ca8f86fcf5df76c57b05ada3151d30c70'
const app: OldApp = {
  name: 'Shire',
  ownerId: 'Kw3nD0rId1',
  secret: '6c1c5677ee7740103a2969bbb60094bf53ad53b500f5baf80e635bc38ffd9e49',
  publicKey: '1431bef89474c165ebee9180e145447a63ff2aa208f9b7c7151f31eed91ea76a',
}
const now = 1_795_290_772_000

/** The fields of a request as the server sees them. */
function fieldsOf({ path, body, headers }: WireRequest): Fields {
  if (headers['Content-Type']?.startsWith('multipart')) {
    const parts = body.matchAll(/name="(\w+)"\r\n\r\n(.*?)\r\n--/gs)
    return Object.fromEntries([...parts].map(([, name = '', value]) => [name, value]))
  }
  return Object.fromEntries(new URLSearchParams(body === '' ? path.split('?')[1] : body))
}

const appinfo = { numUsers: '3', numOnlineUsers: '1', numKeys: '5', version: '1.0', customerPanelLink: '' }
const initialized = {
  ...{ success: true, code: 68, message: 'Initialized', sessionid: 'Ab3dE5gH7j', appinfo },
  ...{ newSession: true, nonce: '0', ownerid: app.ownerId },
}
const subscription = { subscription: 'default', key: 'K', expiry: '1897882772', timeleft: 5, level: '1' }
const info = {
  ...{ username: 'frodo', subscriptions: [subscription], ip: '203.0.113.9', hwid: '' },
  ...{ createdate: '1790000000', lastlogin: '1790000000' },
}
const signedIn = { success: true, code: 68, message: 'Logged in!', info, ownerid: app.ownerId }
const privateKey = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
})

interface Faults {
  /** Replaces the answer to a type. */
  answers?: Record<string, unknown>
  change?: (answer: WireAnswer, type: string) => WireAnswer
  secondsAgo?: number
}

/** A server that signs as each protocol wants it, apart from the faults of a test. */
function serverOf(sdk: Sdk, { answers = {}, change = (answer) => answer, secondsAgo = 0 }: Faults = {}) {
  let ownKey = ''
  const seen: WireRequest[] = []
  const wire = async (request: WireRequest): Promise<WireAnswer> => {
    seen.push(request)
    const fields = fieldsOf(request)
    const isEncrypted = sdk.protocol === '1.0'
    const type = isEncrypted ? Buffer.from(fields.type ?? '', 'hex').toString() : (fields.type ?? '')
    if (type === 'init' && fields.enckey)
      ownKey = isEncrypted ? decrypt(fields.enckey, app.secret, fields.init_iv ?? '') : fields.enckey
    const known: Record<string, unknown> = { init: initialized, login: signedIn, ...answers }
    const json = known[type] ?? { ...initialized, message: type }
    const text = typeof json === 'string' ? json : JSON.stringify(json)
    const key = type === 'init' ? app.secret : isEncrypted ? ownKey : `${ownKey}-${app.secret}`
    const body = Buffer.from(isEncrypted ? encrypt(text, key, fields.init_iv ?? '') : text)
    const timestamp = String(now / 1000 - secondsAgo)
    const signed = sign(null, Buffer.concat([Buffer.from(timestamp), body]), privateKey)
    const headers: [string, string][] = [
      ['Content-Type', isEncrypted ? 'text/plain' : 'application/json; charset=utf-8'],
      ...(sdk.protocol === '1.2' ? [['signature', hmac(key, body)] as [string, string]] : []),
      ['x-signature-timestamp', timestamp],
      ['x-signature-ed25519', signed.toString('hex')],
    ]
    return change({ status: 200, headers, body }, type)
  }
  const program = new OldProgram(sdk, app, { wire, now: () => now, device: 'S-1-5-21-1-2-3-1001' })
  return { program, seen }
}

async function lastWords(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(ProgramDied)
  return (error as ProgramDied).message
}

const starting = (sdk: Sdk, faults: Faults) => lastWords(serverOf(sdk, faults).program.init())
const signingIn = async (sdk: Sdk, faults: Faults) => {
  const { program } = serverOf(sdk, faults)
  await program.init()
  return lastWords(program.call('login', { username: 'frodo', pass: 'x' }))
}

const withHeader =
  (name: string, value: string, onlyOf?: string) =>
  (answer: WireAnswer, type: string): WireAnswer => {
    if (onlyOf && onlyOf !== type) return answer
    const others = answer.headers.filter(([written]) => written !== name)
    return { ...answer, headers: [...others, [name, value]] }
  }

describe('known answers', () => {
  it('verifies the signatures of protocol 1.2', () => {
    const init = String.raw`{"success":true,"message":"Initialized","sessionid":"Ab3dE5gH7j","appinfo":{"numUsers":"3","numOnlineUsers":"1","numKeys":"5","version":"1.0.0","customerPanelLink":"https:\/\/licence.example\/panel\/"},"newSession":true,"nonce":"0123456789abcdefghijABCDEFGHIJ01"}`
    expect(hmac(app.secret, init)).toBe('acf750d735b116e0ee3cdd7928e4721b0cccec7c25dc934898b8f3d45fe47803')
    const key = `1f3c9a60-7b2d-4e-${app.secret}`
    const refusal = String.raw`{"success":false,"message":"Passwort stimmt nicht \u00fcberein"}`
    expect(hmac(key, refusal)).toBe('2da4094f922f33a485bbf2cff214d41710640f3fbf9e23775b6c66673414ba47')
    expect(hmac(key, '')).toBe('ef13a1f2b65ee2b4e309d05b3a1c47569a9b3ccec26746d7587e1012264a298f')
  })

  it('encrypts and decrypts as protocol 1.0 does', () => {
    expect(encrypt('1.0.0', app.secret, '8a4c2e10')).toBe('4e6abe99e412bd4a2e2768d12ae8b6b3')
    const ownKey = '25c39bfd3e6f2f56b3fbe8d5e370bf8ddfab35a1675202f1b4643d72b419d879'
    const hex =
      '1283f10aea3f8da8a46aa2ac130a2250f0e15d13ae874ab265b73acde73ea15726f2a7ff910b3b9d9a124ff03ba43200abc18a29c699eb7848dd7b91e0dbca67'
    expect(decrypt(hex, ownKey, '8a4c2e10')).toBe('{"success":true,"message":"Session is validated."}')
  })

  it('verifies the signature of protocol 1.3 over time stamp and body', () => {
    const body = Buffer.from(
      '{"success":true,"code":68,"message":"Session is validated.","nonce":"0b9f5c3e-52d8-4c1b-9a0e-6f3d2c1b0a99","ownerid":"Kw3nD0rId1"}',
    )
    const signature =
      '9d2736560433ddc392ee4a09cb62b0631dad8fe9e21d9b7de1538ba5ca987ae0c2ef05bffdcc1c140f21d398060e3088b0d8abca58b79a8c2d51ac6ffc4c4e00'
    expect(isSigned(app.publicKey, '1795290772', body, signature)).toBe(true)
    expect(isSigned(app.publicKey, '1795290773', body, signature)).toBe(false)
  })
})

describe('each program', () => {
  it('starts, signs in and goes on with a server that keeps to its protocol', async () => {
    for (const sdk of oldSdks) {
      const { program, seen } = serverOf(sdk)
      expect(await program.init(), sdk.name).toMatchObject({ success: true })
      await program.call('login', { username: 'frodo', pass: 'ring-bearer-1' })
      expect(await program.call('check'), sdk.name).toMatchObject({ success: true })
      expect(seen[1]?.method, sdk.name).toBe(sdk.sending === 'query' ? 'GET' : 'POST')
    }
  })

  it('sends the hardware id, host and names of its SDK', async () => {
    const sent = async (sdk: Sdk) => {
      const { program, seen } = serverOf(sdk)
      await program.init()
      await program.call('login', { username: 'frodo', pass: '50% {"off"}' })
      return seen[1] as WireRequest
    }
    expect(fieldsOf(await sent(go12)).hwid).toBe('S-1-5-21-1-2-3-1001\n')
    expect(fieldsOf(await sent(php12)).hwid).toBeUndefined()
    expect((await sent(php12)).headers['Content-Type']).toMatch(/^multipart\/form-data; boundary=/)
    expect((await sent(javaScript12)).headers.Host).toBe('keyauth.win')
    expect((await sent(bareGet)).path).toMatch(/^\/api\/1\.1\/\?type=login&/)
    expect((await sent(cpp2026)).path).toBe('/api/1.3/?check_paid=1')
    expect((await sent(cpp12)).body).toContain('&pass=50% {"off"}&')
    expect((await sent(cpp12)).body).toMatch(/&$/)
  })

  it('dies of another status, of text that is no JSON, and of an app that does not exist', async () => {
    for (const sdk of oldSdks) {
      const status = (answer: WireAnswer) => ({ ...answer, status: 429 })
      expect(await starting(sdk, { change: status }), sdk.name).toBe('the status is 429')
      expect(await starting(sdk, { answers: { init: `<html>${' '.repeat(32)}` } }), sdk.name).toContain(
        'not JSON',
      )
      expect(await starting(sdk, { answers: { init: 'KeyAuth_Invalid' } }), sdk.name).toMatch(
        sdk === cpp2026 ? 'another size' : 'does not exist',
      )
    }
  })

  it('dies of a field of another type', async () => {
    const withInfo = (change: object) => ({
      answers: { login: { ...signedIn, info: { ...info, ...change } } },
    })
    for (const sdk of oldSdks) {
      expect(await signingIn(sdk, withInfo({ subscriptions: [] })), sdk.name).toContain('info.subscriptions')
      const dated = [{ ...subscription, expiry: 1_897_882_772 }]
      expect(await signingIn(sdk, withInfo({ subscriptions: dated })), sdk.name).toContain('expiry')
      const left = [{ ...subscription, timeleft: '5' }]
      expect(await signingIn(sdk, withInfo({ subscriptions: left })), sdk.name).toContain('timeleft')
      expect(await signingIn(sdk, withInfo({ hwid: null })), sdk.name).toContain('info.hwid')
      const users = { ...appinfo, numUsers: 3 }
      const init = { ...initialized, appinfo: users }
      expect(await starting(sdk, { answers: { init } }), sdk.name).toContain('appinfo.numUsers')
      const outdated = { success: false, code: 1, message: 'invalidver', ownerid: app.ownerId }
      expect(await starting(sdk, { answers: { init: outdated } }), sdk.name).toContain('download')
    }
  })
})

describe('programs of protocol 1.0', () => {
  it('die of an answer that is not encrypted under their key', async () => {
    const change = (answer: WireAnswer) => ({ ...answer, body: Buffer.from('{"success":true}') })
    const [sdk] = oldSdks
    expect(await starting(sdk as Sdk, { change })).toContain('no cipher text')
    const other = (answer: WireAnswer) => ({ ...answer, body: Buffer.from('00'.repeat(32)) })
    expect(await starting(sdk as Sdk, { change: other })).toContain('does not decrypt')
  })
})

describe('programs of protocol 1.2', () => {
  const wrong = 'f'.repeat(64)

  it('die of a wrong or absent signature where their SDK checks it', async () => {
    for (const sdk of keyedSdks.filter((one) => one !== php12 && one !== javaScript12)) {
      expect(await starting(sdk, { change: withHeader('signature', wrong) }), sdk.name).toContain('wrong')
      expect(await signingIn(sdk, { change: withHeader('signature', wrong, 'login') }), sdk.name).toContain(
        'wrong',
      )
      const none = (answer: WireAnswer) => ({ ...answer, headers: answer.headers.slice(0, 1) })
      expect(await starting(sdk, { change: none }), sdk.name).toContain('not signed')
    }
  })

  it('do not look where their SDK does not', async () => {
    const faults = { change: withHeader('signature', wrong, 'log'), answers: { log: '' } }
    const { program } = serverOf(python12, faults)
    await program.init()
    expect(await program.call('log', { message: 'x' })).toEqual({ success: true, message: '' })
    const strict = serverOf(go12, faults).program
    await strict.init()
    expect(await lastWords(strict.call('log', { message: 'x' }))).toBe('the signature of log is wrong')
    for (const sdk of [php12, javaScript12])
      expect(await serverOf(sdk, { change: withHeader('signature', wrong) }).program.init()).toMatchObject({
        success: true,
      })
  })

  it('in C++ find the signature by small letters and compare its first eight characters', async () => {
    const capital = (answer: WireAnswer): WireAnswer => ({
      ...answer,
      headers: answer.headers.map(([name, value]) => [name === 'signature' ? 'Signature' : name, value]),
    })
    expect(await starting(cpp12, { change: capital })).toBe('init is not signed')
    const cut = (answer: WireAnswer): WireAnswer => ({
      ...answer,
      headers: answer.headers.map(([name, value]) => [
        name,
        name === 'signature' ? value.slice(0, 8) + wrong.slice(8) : value,
      ]),
    })
    expect(await serverOf(cpp12, { change: cut }).program.init()).toMatchObject({ success: true })
    expect(await starting(cSharp12, { change: cut })).toContain('wrong')
  })

  it('in Go die of a start without newSession', async () => {
    const { newSession: _, ...init } = initialized
    expect(await starting(go12, { answers: { init } })).toContain('newSession')
    expect(await serverOf(python12, { answers: { init } }).program.init()).toMatchObject({ success: true })
  })
})

describe('programs of protocol 1.3', () => {
  const wrong = '0'.repeat(128)

  it('die of a wrong or absent signature, but for React', async () => {
    for (const sdk of timedSdks.filter((one) => one !== react13)) {
      expect(await starting(sdk, { change: withHeader('x-signature-ed25519', wrong) }), sdk.name).toContain(
        'wrong',
      )
      const none = (answer: WireAnswer) => ({ ...answer, headers: answer.headers.slice(0, 1) })
      expect(await starting(sdk, { change: none }), sdk.name).toContain('not signed')
    }
  })

  it('die of an answer that is too old or, in three SDKs, from the future', async () => {
    const ages = {
      'Python 1.3': 25,
      'C# 1.3': 20,
      'C++ 2025': 20,
      'C++ 2026': 120,
      'PHP 1.3': 300,
      'Go 1.3': 25,
    }
    const early = ['C++ 2026', 'PHP 1.3', 'Go 1.3']
    for (const sdk of timedSdks.filter((one) => one !== react13)) {
      const limit = ages[sdk.name as keyof typeof ages]
      expect(await serverOf(sdk, { secondsAgo: limit }).program.init(), sdk.name).toMatchObject({
        success: true,
      })
      expect(await starting(sdk, { secondsAgo: limit + 1 }), sdk.name).toContain('seconds old')
      if (early.includes(sdk.name))
        expect(await starting(sdk, { secondsAgo: -limit - 1 }), sdk.name).toContain('seconds old')
      else
        expect(await serverOf(sdk, { secondsAgo: -limit - 1 }).program.init()).toMatchObject({
          success: true,
        })
    }
  })

  it('in C++ want a code that agrees, in C# and PHP the owner id', async () => {
    for (const sdk of [cpp2025, cpp2026])
      for (const code of [undefined, '68', 68.5, 67])
        expect(await starting(sdk, { answers: { init: { ...initialized, code } } })).toContain('code')
    const foreign = { init: { ...initialized, ownerid: 'another000' } }
    for (const sdk of [cSharp13, cpp2025, php13])
      expect(await starting(sdk, { answers: foreign }), sdk.name).toContain('ownerid')
    const { ownerid: _, ...unnamed } = initialized
    expect(await starting(cSharp13, { answers: { init: unnamed } })).toContain('ownerid')
    expect(await serverOf(php13, { answers: { init: unnamed } }).program.init()).toMatchObject({
      success: true,
    })
    expect(await serverOf(python13, { answers: foreign }).program.init()).toMatchObject({ success: true })
  })

  it('in Go end with the subscription', async () => {
    const ended = [{ ...subscription, expiry: '1795290771' }]
    const login = { ...signedIn, info: { ...info, subscriptions: ended } }
    expect(await signingIn(go13, { answers: { login } })).toContain('subscription has ended')
  })
})

it('reads an answer from a socket with the names of headers as they were written', async () => {
  const { createServer } = await import('node:net')
  const server = createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nsignature: ab: c\r\nX-Other: 1\r\n\r\n{}'))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  const wire = overSocket(`http://127.0.0.1:${port}`)
  const answer = await wire({ method: 'POST', path: '/api/1.2/', headers: {}, body: 'type=init' })
  expect(answer).toEqual({
    ...{ status: 200, body: Buffer.from('{}') },
    headers: [
      ['signature', 'ab: c'],
      ['X-Other', '1'],
    ],
  })
  server.close()
})
