// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { encrypt } from '../../src/core/keyauth-cipher.ts'
import { makeLicenses, single } from '../actors.ts'
import { hmac, makeOldApp, read10, read13, type Settings, send, start12 } from '../compatibility-actor.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const hwid = 'S-1-5-21-1004336348-1177238915-682003330-512'

const common = ({ name, ownerId }: Settings) => ({ name, ownerid: ownerId })

test('protocol 1.0 encrypts fields and answers: init with the secret, the rest with the key of the program', async () => {
  const { app, settings } = await makeOldApp(owner)
  const { key } = single(await makeLicenses(on, owner, app))
  const [enckey, iv] = ['25c39bfd3e6f2f56b3fbe8d5e370bf8ddfab35a1675202f1b4643d72b419d879', '8a4c2e10']
  const hex = (text: string) => Buffer.from(text).toString('hex')
  const named = { name: hex(settings.name), ownerid: hex(settings.ownerId), init_iv: iv }
  const first = { type: hex('init'), ver: encrypt('1.0', settings.secret, iv), hash: '' }
  const fields = { ...named, ...first, enckey: encrypt(enckey, settings.secret, iv) }
  const opened = await send(on, fields, { protocol: '1.0' })
  expect(opened.headers['content-type']).not.toContain('json')
  const { sessionid, ...init } = read10(settings.secret, iv, opened.payload)
  expect(init).toMatchObject({ success: true, message: 'Initialized', appinfo: { version: '1.0.0' } })
  expect(init).not.toHaveProperty('newSession')
  const license = { type: hex('license'), key: encrypt(key, enckey, iv), hwid: encrypt(hwid, enckey, iv) }
  const signedIn = await send(on, { ...named, ...license, sessionid: hex(sessionid) }, { protocol: '1.0' })
  expect(read10(enckey, iv, signedIn.payload)).toMatchObject({ success: true, info: { username: key, hwid } })
  const unknown = await send(on, { ...named, type: hex('nothing') }, { protocol: '1.0' })
  expect(unknown.json).toEqual({ success: false, message: 'Unhandled Type' })
  const plain = { type: hex('license'), key, sessionid: hex(sessionid) }
  const refused = await send(on, { ...named, ...plain }, { protocol: '1.0' })
  expect(read10(enckey, iv, refused.payload)).toMatchObject({ success: false })
})

test('protocol 1.1 signs nothing and takes everything from a query', async () => {
  const { app, settings } = await makeOldApp(owner)
  const { key } = single(await makeLicenses(on, owner, app))
  const options = { protocol: '1.1', method: 'GET' } as const
  const opened = await send(on, { type: 'init', ver: '1.0.0', ...common(settings) }, options)
  expect(opened.headers).not.toHaveProperty('signature')
  expect(opened.json).not.toHaveProperty('newSession')
  const { sessionid } = opened.json
  const signedIn = await send(on, { type: 'license', key, hwid, sessionid, ...common(settings) }, options)
  expect(signedIn.json).toMatchObject({ success: true, info: { hwid } })
})

test('protocol 1.3 signs time and body of every answer', async () => {
  const { app, settings } = await makeOldApp(owner)
  const { key } = single(await makeLicenses(on, owner, app))
  const call = async (type: string, fields: Record<string, string> = {}) =>
    read13(settings, await send(on, { type, ...common(settings), ...fields }, { protocol: '1.3' }))
  const { sessionid, ...opened } = await call('init', { ver: '1.0.0' })
  expect(opened).toMatchObject({ success: true, message: 'Initialized', newSession: true })
  expect(await call('check', { sessionid })).toMatchObject({
    success: false,
    message: 'Session is not authenticated',
  })
  expect(await call('license', { key, hwid, sessionid })).toMatchObject({ success: true, info: { hwid } })
  expect(await call('check', { sessionid })).toMatchObject({ success: true })
  expect(await call('log', { sessionid, message: 'started' })).toMatchObject({ success: expect.any(Boolean) })
  expect(await call('check', { sessionid: '0'.repeat(100) })).toMatchObject({ success: false })
  expect(await call('nothing')).toMatchObject({ success: false })
  expect(await call('init', { ver: '9.0' })).toMatchObject({
    success: false,
    message: 'invalidver',
    download: '',
  })
})

describe('what shipped programs send', () => {
  const sessionOf = async () => {
    const { app, settings } = await makeOldApp(owner, { name: 'My App' })
    const { key } = single(await makeLicenses(on, owner, app))
    return { settings, key, ...(await start12(on, settings)) }
  }

  test('is read as multipart, without encoding, with empty pairs, a query beside it and any Host', async () => {
    const { settings, sessionid, key } = await sessionOf()
    const fields = { type: 'license', key, hwid, sessionid, ...common(settings) }
    const part = ([name, value]: [string, string]) =>
      `--XyZ\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const bodies = [
      {
        contentType: 'multipart/form-data; boundary=XyZ',
        body: `${Object.entries(fields).map(part).join('')}--XyZ--\r\n`,
      },
      {
        body: `${Object.entries(fields)
          .map(([name, value]) => `${name}=${value}`)
          .join('&')}&x=100%&y={"a"}&`,
      },
      { body: new URLSearchParams(fields).toString(), path: '/api/1.2?check_paid=1' },
      {
        body: new URLSearchParams(fields).toString(),
        headers: { host: 'keyauth.win', origin: 'https://evil.example' },
      },
      { body: new URLSearchParams(fields).toString(), contentType: 'nonsense' },
      { body: new URLSearchParams(fields).toString(), path: '/api/1.2/?type=logout&key=none' },
    ]
    for (const options of bodies) {
      expect((await send(on, {}, options)).json, options.body).toMatchObject({
        success: true,
        info: { hwid },
      })
    }
  })

  test('that is too large or no form at all is refused with status 200', async () => {
    const { settings } = await sessionOf()
    for (const body of ['x'.repeat(70_000), '--a', '{"type":"init"}', '\0\xff', '%%%=%&&=&==']) {
      const { payload } = await send(on, {}, { body })
      expect(JSON.parse(payload)).toMatchObject({ success: false, message: expect.any(String) })
    }
    const many = Array.from({ length: 20_000 }, (_, at) => `a${at}`).join('&')
    expect((await send(on, {}, { body: many.slice(0, 16_000) })).json).toMatchObject({ success: false })
    const escapes = await send(on, {}, { body: '%41='.repeat(16_384) })
    expect(escapes.json).toEqual({ success: false, message: 'The body is too large' })
    const later = await send(on, { type: 'init', ...common(settings) })
    expect(later.json).toMatchObject({ success: true })
  })

  test('without a key of their own, programs get the words that their libraries expect', async () => {
    const { settings } = await sessionOf()
    const opened = await send(on, { type: 'init', ...common(settings) })
    expect(opened.headers.signature).toBe('No encryption key supplied')
    const refused = await send(on, { type: 'init', enckey: 'x'.repeat(36), ...common(settings) })
    expect(refused.headers.signature).toBe(hmac(settings.secret, refused.payload))
    const { sessionid } = opened.json
    const checked = await send(on, { type: 'check', sessionid, ...common(settings) })
    expect(checked.headers.signature).toBe('No encryption key supplied')
  })

  test('is refused in the old order before the app is known', async () => {
    const { settings } = await sessionOf()
    const message = async (fields: Record<string, string>) =>
      (await send(on, { type: 'init', ...fields })).json.message
    expect(await message({ name: settings.name })).toMatch(/^No OwnerID specified\./)
    expect(await message({ ownerid: settings.ownerId })).toMatch(/^No app name specified\./)
    expect(await message({ ...common(settings), ownerid: 'abc' })).toMatch(
      /^OwnerID should be 10 characters long\./,
    )
  })

  test.each(['file', 'webhook', 'chatsend', '2faenable', '2fadisable'])(
    '%s gets a signed refusal',
    async (type) => {
      const { call } = await sessionOf()
      expect(await call(type)).toEqual({ success: false, message: expect.any(String) })
    },
  )

  test('chatget gets no messages, which programs go through without a look at the rest', async () => {
    const { call } = await sessionOf()
    expect(await call('chatget')).toMatchObject({ success: true, messages: [] })
  })
})
