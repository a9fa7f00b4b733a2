// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { type MessageKey, messageDefaults } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { openDatabase } from '../../src/db/open.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  type Program,
  refusal,
  registerUser,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const init = (body: object = {}) =>
  on.call('POST', '/client/init', {
    body: { appId: app.appId, secret: app.appSecret, version: '1.0.0', ...body },
  })

test.each([
  ['/login', { username: ' ', password: 'x' }, 'Username is required'],
  ['/login', { username: 'x'.repeat(101), password: 'x' }, 'Username is too long'],
  ['/login', { username: 'x', password: '' }, 'Password is required'],
  ['/login', { username: 'x', password: 'x'.repeat(1001) }, 'Password is too long'],
  ['/license', { licenseKey: ' ' }, 'License key is required'],
  ['/license', { licenseKey: 'x'.repeat(401) }, 'License key is too long'],
])('%s reports wrong input in words that a user understands: %o', async (path, body, message) => {
  const program = await startProgram(on, app)
  const answer = await program.call('POST', path, body)
  expect(answer.status).toBe(400)
  expect(answer.json.message).toBe(message)
})

describe('init', () => {
  test("opens a session for 24 hours and returns the app's name and version", async () => {
    const { status, json } = await init()
    expect(status).toBe(200)
    expect(json.data).toEqual({
      session: expect.stringMatching(/^kwc_[\w-]{90,300}$/),
      expiresAt: on.clock.inDays(1),
      app: { name: app.name, version: '1.0.0' },
      updateAvailable: false,
      advisory: null,
      variables: {},
    })
  })

  test.each([
    ['1.2.3', '1.2.4', true],
    ['1.9.0', '1.10.0', true],
    ['2.0.0', '1.10.0', false],
    ['1.10.0', '1.10.0', false],
    ['nightly', '1.10.0', true],
  ])('from version %s to %s reports an update: %s', async (mine, newest, expected) => {
    await owner.call('PUT', `/apps/${app._id}`, { version: newest })
    expect((await init({ version: mine })).json.data.updateAvailable).toBe(expected)
  })

  test('with a wrong, empty or partial secret or an unknown app answers appDisabled', async () => {
    for (const secret of [
      'wrong',
      app.appSecret.slice(0, 31),
      `${app.appSecret}x`,
      app.appSecret.toLowerCase(),
    ]) {
      expect(refusal(await init({ secret }))).toBe('appDisabled')
    }
    expect(refusal(await init({ appId: 'ZZZZZZZZ' }))).toBe('appDisabled')
    expect(wrongFields(await init({ secret: '' }))).toEqual(['secret'])
  })

  test('for a paused app answers pausedApp, but only with the correct secret', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { paused: true })
    expect(refusal(await init())).toBe('pausedApp')
    expect(refusal(await init({ secret: 'wrong' }))).toBe('appDisabled')
  })
})

describe('register', () => {
  const register = (program: Program, body: object) =>
    program.call('POST', '/register', { username: 'alice', password: 'swordfish', ...body })

  test('creates the end user, signs in and uses the license', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const program = await startProgram(on, app)
    const answer = await register(program, { licenseKey: license.key, hwid: 'pc-1', email: 'a@example.com' })
    expect(answer.json.message).toBe('Successfully logged in')
    expect(answer.json.data.user).toEqual({
      _id: expect.stringMatching(/^usr_/),
      links: { buy: null, renew: null, upgrades: [] },
      username: 'alice',
      email: 'a@example.com',
      expiresAt: license.expiresAt,
      createdAt: on.clock.inDays(0),
      lastLoginAt: on.clock.inDays(0),
      hwidBound: true,
      inGrace: false,
      term: 'date',
      devices: { used: 1, limit: 1 },
      seat: null,
      features: [],
      variables: {},
      updatesUntil: null,
      updateAvailable: false,
    })
    const { links: _, ...checked } = answer.json.data.user
    expect((await program.call('GET', '/session')).json.data).toEqual({ user: checked, advisory: null })
    const [seen] = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
    expect(seen).toMatchObject({ used: true, status: 'active', usedBy: { username: 'alice' } })
  })

  test('rejects a two-letter name, a taken name and unusable keys', async () => {
    await registerUser(on, owner, app)
    const [fresh, banned, ended] = await makeLicenses(on, owner, app, 3)
    const used = (await owner.call('GET', `/licenses?app=${app._id}&status=active`)).json.data.licenses[0]
    await owner.call('PATCH', `/licenses/${banned?._id}/toggle-ban`)
    await owner.call('PUT', `/licenses/${ended?._id}`, { expiresAt: '2001-01-01' })
    const program = await startProgram(on, app)
    const code = async (body: object) => refusal(await register(program, { username: 'bobby', ...body }))
    expect(await code({ username: 'ab', licenseKey: fresh?.key })).toBe('unTooShort')
    expect(await code({ username: 'ALICE', licenseKey: fresh?.key })).toBe('usernameTaken')
    expect(await code({ licenseKey: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' })).toBe('keyNotFound')
    expect(await code({ licenseKey: used.key })).toBe('keyUsed')
    expect(await code({ licenseKey: banned?.key })).toBe('keyBanned')
    expect(await code({ licenseKey: ended?.key })).toBe('noActiveSubs')
    expect((await owner.call('GET', `/clients?app=${app._id}`)).json.data.stats.total).toBe(1)
    expect(
      (await register(program, { username: 'bobby', licenseKey: fresh?.key?.toLowerCase() })).status,
    ).toBe(200)
  })

  test('rejects a key of another app', async () => {
    const other = await makeApp(owner, 'Other')
    const license = single(await makeLicenses(on, owner, other))
    expect(refusal(await register(await startProgram(on, app), { licenseKey: license.key }))).toBe(
      'keyNotFound',
    )
  })
})

test('login distinguishes an unknown name from a wrong password and accepts the name in any case', async () => {
  await registerUser(on, owner, app)
  const program = await startProgram(on, app)
  const login = (username: string, password: string) => program.call('POST', '/login', { username, password })
  expect(refusal(await login('nobody', 'swordfish'))).toBe('usernameNotFound')
  expect(refusal(await login('alice', 'Swordfish'))).toBe('passMismatch')
  expect(refusal(await login('alice', ' swordfish'))).toBe('passMismatch')
  const { status, json } = await login('ALICE', 'swordfish')
  expect(status).toBe(200)
  expect(json.data.user.username).toBe('alice')
})

test('an end user created by a key cannot sign in by password', async () => {
  const { license } = await activateKey(on, owner, app)
  const program = await startProgram(on, app)
  for (const password of ['null', 'undefined', license.key]) {
    const answer = await program.call('POST', '/login', { username: license.key, password })
    expect(refusal(answer)).toBe('passMismatch')
  }
})

test('a change by another process applies to the next check', async () => {
  const program = await startProgram(on, app)
  const validate = () =>
    on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: 'AAAA-BBBB-CCCC' } })
  const { config } = on
  const other = openDatabase({ url: config.databaseUrl, dataDir: config.dataDir })
  try {
    for (const paused of [1, 0, 1] as const) {
      const code = paused === 1 ? 'pausedApp' : undefined
      await other.db.updateTable('apps').set({ paused }).where('id', '=', app._id).execute()
      expect((await validate()).json.data.code).toBe(code ?? 'keyNotFound')
      expect((await program.call('GET', '/session')).json.code).toBe(code ?? 'sessionUnauthed')
    }
  } finally {
    await other.close()
  }
})

describe('reports the first failing check in order', () => {
  type World = { user: { _id: string }; license: { _id: string } }
  const breakCheck: [MessageKey, (world: World) => Promise<unknown>][] = [
    [
      'noActiveSubs',
      ({ license }) => owner.call('PUT', `/licenses/${license._id}`, { expiresAt: '2001-01-01' }),
    ],
    ['keyBanned', ({ license }) => owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)],
    ['userBanned', ({ user }) => owner.call('PATCH', `/clients/${user._id}/toggle-ban`)],
    ['pausedApp', () => owner.call('PUT', `/apps/${app._id}`, { paused: true })],
    ['appDisabled', () => owner.call('PUT', '/settings', { pauseApplications: true })],
  ]
  const unpause = () => owner.call('PUT', '/settings', { pauseApplications: false })

  test('at sign-in by password and by key, with a wrong hardware id', async () => {
    const byName = await registerUser(on, owner, app)
    await byName.program.call('POST', '/login', { username: 'alice', password: 'swordfish', hwid: 'pc-1' })
    const byKey = await activateKey(on, owner, app, 'pc-1')
    const program = await startProgram(on, app)
    const attempts: [World, () => Promise<Answer>][] = [
      [
        byName,
        () => program.call('POST', '/login', { username: 'alice', password: 'swordfish', hwid: 'pc-2' }),
      ],
      [byKey, () => program.call('POST', '/license', { licenseKey: byKey.license.key, hwid: 'pc-2' })],
    ]
    for (const [, attempt] of attempts) expect(refusal(await attempt())).toBe('hwidMismatch')
    for (const [code, act] of breakCheck.slice(0, 3)) {
      for (const [world, attempt] of attempts) {
        await act(world)
        expect(refusal(await attempt())).toBe(code)
      }
    }
    const wrong = await program.call('POST', '/login', { username: 'alice', password: 'wrong', hwid: 'pc-2' })
    expect(refusal(wrong)).toBe('passMismatch')
    for (const [code, act] of breakCheck.slice(3)) {
      await act(byName)
      for (const [, attempt] of attempts) expect(refusal(await attempt())).toBe(code)
    }
    await unpause()
  })

  test("in a running session and in validate, with the app's own texts", async () => {
    const texts = Object.fromEntries(Object.keys(messageDefaults).map((key) => [key, `own text of ${key}`]))
    await owner.call('PUT', `/apps/${app._id}/error-messages`, texts)
    const { program, license, user } = await activateKey(on, owner, app, 'pc-1')
    const validate = () =>
      on.call('POST', '/client/validate', {
        body: { appId: app.appId, licenseKey: license.key, hwid: 'pc-2' },
      })
    const mismatch = await validate()
    expect(mismatch.json).toMatchObject({
      message: 'own text of hwidMismatch',
      data: { code: 'hwidMismatch' },
    })
    for (const [code, act] of breakCheck) {
      await act({ user, license })
      const answer = await program.call('GET', '/session')
      expect(refusal(answer)).toBe(code)
      expect(answer.json.message).toBe(`own text of ${code}`)
      const verdict = await validate()
      expect(verdict.status).toBe(200)
      expect(verdict.json).toMatchObject({ message: `own text of ${code}`, data: { valid: false, code } })
    }
    await unpause()
    for (const [, act] of breakCheck.slice(1, 3)) await act({ user, license })
    await owner.call('PUT', `/apps/${app._id}`, { paused: false })
    await owner.call('PATCH', `/clients/${user._id}/extend`, { days: 1 })
    expect((await program.call('GET', '/session')).status).toBe(200)
  })

  test('with the default texts unless the owner changed them', async () => {
    const { program, user } = await activateKey(on, owner, app)
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    expect((await program.call('GET', '/session')).json.message).toBe(messageDefaults.userBanned)
  })
})

test('an end user expires exactly at the expiry', async () => {
  const { program, license } = await activateKey(on, owner, app)
  on.clock.advance(30 * day - 1)
  const late = await startProgram(on, app)
  expect((await late.call('POST', '/license', { licenseKey: license.key })).status).toBe(200)
  on.clock.advance(1)
  expect(refusal(await late.call('GET', '/session'))).toBe('noActiveSubs')
  expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
})
