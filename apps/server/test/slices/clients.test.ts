// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  refusal,
  registerUser,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const create = (body: object) =>
  owner.call('POST', '/clients/create-direct', {
    username: 'bob',
    password: 'swordfish',
    appId: app._id,
    expiresAt: on.clock.inDays(30),
    ...body,
  })
const list = async (query = '') => (await owner.call('GET', `/clients?app=${app._id}${query}`)).json.data
const licenseOf = async (id: string) =>
  single((await owner.call('GET', `/licenses?search=${id}`)).json.data.licenses) as Record<string, unknown>
const names = (data: { clients: { username: string }[] }) => data.clients.map((client) => client.username)

test('an end user is read alone as it is listed', async () => {
  const { user } = await registerUser(on, owner, app, 'alone')
  const answer = await owner.call('GET', `/clients/${user._id}`)
  expect(answer.status).toBe(200)
  const match = { field: 'username', text: 'alone' }
  const { grants, rights, ...client } = answer.json.data.client
  expect([{ ...client, match }]).toEqual((await list('&search=alone')).clients)
  expect([grants.length, rights]).toEqual([1, []])
  expect((await owner.call('GET', `/clients/usr_${'0'.repeat(32)}`)).status).toBe(404)
})

describe('creating an end user', () => {
  test('accepts null for one who never expires', async () => {
    const { status, json } = await create({ username: 'always', expiresAt: null })
    expect([status, json.data.client.expiresAt, json.data.client.status]).toEqual([201, null, 'active'])
    const program = await startProgram(on, app)
    const answer = await program.call('POST', '/login', { username: 'always', password: 'swordfish' })
    expect(answer.json.data.user).toMatchObject({ expiresAt: null, term: 'forever' })
  })

  test('returns the end user, who can sign in', async () => {
    const { status, json } = await create({ username: ' Bob ', hwid: 'pc-1', appId: app.appId })
    expect(status).toBe(201)
    expect(json.data.client).toEqual({
      _id: expect.stringMatching(/^usr_/),
      username: 'Bob',
      email: null,
      app: { _id: app._id, name: app.name, appId: app.appId },
      status: 'active',
      ban: false,
      banReason: null,
      paused: false,
      hwid: 'pc-1',
      licenseKey: null,
      testLicense: false,
      createdAt: on.clock.inDays(0),
      expiresAt: on.clock.inDays(30),
      graceDays: 0,
      inGrace: false,
      customer: null,
      lastLoginAt: null,
      offline: null,
    })
    const program = await startProgram(on, app)
    const signIn = (hwid?: string) =>
      program.call('POST', '/login', { username: 'bob', password: 'swordfish', hwid })
    expect(refusal(await signIn())).toBe('hwidMismatch')
    expect((await signIn('pc-1')).status).toBe(200)
    expect((await list()).clients[0].lastLoginAt).toBe(on.clock.inDays(0))
  })

  test('binds a device by the hash of its hardware id, as exports write it', async () => {
    const hash = createHash('sha256').update('pc-1').digest('hex')
    const { json } = await create({ username: 'moved', hwid: `sha256:${hash}` })
    expect(json.data.client.hwid).toBe(`sha256:${hash}`)
    const program = await startProgram(on, app)
    const signIn = (hwid: string) =>
      program.call('POST', '/login', { username: 'moved', password: 'swordfish', hwid })
    expect(refusal(await signIn(`sha256:${hash}`))).toBe('hwidMismatch')
    expect((await signIn('pc-1')).status).toBe(200)
  })

  test.each([{ hwid: null }, { hwid: '' }, {}])('with %j leaves the hardware id unbound', async (body) => {
    expect((await create(body)).json.data.client.hwid).toBe(null)
  })

  test('rejects a name taken in the app in any case or width, and accepts it in another app', async () => {
    await create({ username: 'Bob' })
    for (const username of ['bob', 'BOB', 'ＢＯＢ']) {
      const answer = await create({ username })
      expect(refusal(answer)).toBe('username_taken')
      expect(answer.status).toBe(409)
      expect(answer.json.errors).toEqual([{ path: 'username', message: answer.json.message }])
    }
    expect((await list()).stats.total).toBe(1)
    const other = await makeApp(owner, 'Other')
    expect((await create({ username: 'bob', appId: other._id })).status).toBe(201)
  })

  test.each([
    ['a short name', { username: 'ab' }, ['username']],
    ['a name with a control character', { username: 'a\u0001bc' }, ['username']],
    ['a short password', { password: '12345' }, ['password']],
    ['no app', { appId: undefined }, ['appId']],
    ['an expiry in the past', { expiresAt: '2020-01-01' }, ['expiresAt']],
    ['no expiry', { expiresAt: undefined }, ['expiresAt']],
    ['a hardware id that is too long', { hwid: 'x'.repeat(257) }, ['hwid']],
    ['an unknown field', { banned: true }, ['banned']],
  ])('rejects %s', async (_what, body, paths) => {
    expect(wrongFields(await create(body))).toEqual(paths)
    expect((await list()).stats.total).toBe(0)
  })
})

describe('a ban', () => {
  test('toggles or is set explicitly, and applies to the next request', async () => {
    const { program, user } = await registerUser(on, owner, app)
    const toggle = async (body?: object) =>
      (await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, body)).json.data.client
    expect(await toggle()).toMatchObject({ ban: true, status: 'banned' })
    expect(refusal(await program.call('GET', '/session'))).toBe('userBanned')
    expect(await toggle()).toMatchObject({ ban: false, status: 'active' })
    expect((await program.call('GET', '/session')).status).toBe(200)
    expect((await toggle({ is_banned: true })).ban).toBe(true)
    expect((await toggle({ is_banned: true })).ban).toBe(true)
    expect((await toggle({ is_banned: false })).ban).toBe(false)
  })

  test('takes precedence over expiry in status, counts and filters', async () => {
    const { user } = await registerUser(on, owner, app)
    const { license } = await activateKey(on, owner, app)
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: '2001-01-01' })
    await create({})
    expect((await list()).stats).toEqual({ total: 3, active: 1, banned: 1, expired: 1 })
    expect(names(await list('&status=banned'))).toEqual(['alice'])
    expect(names(await list('&status=expired'))).toEqual([license.key])
    expect(names(await list('&status=active'))).toEqual(['bob'])
  })
})

test('resetting the hardware id clears it, and the next sign-in binds a new one', async () => {
  const { license, user, program } = await activateKey(on, owner, app, 'pc-1')
  const { status, json } = await owner.call('PATCH', `/clients/${user._id}/reset-hwid`)
  expect(status).toBe(200)
  expect(json.data.client).toMatchObject({ username: user.username, hwid: null })
  const signIn = (hwid?: string) => program.call('POST', '/license', { licenseKey: license.key, hwid })
  expect((await signIn()).status).toBe(200)
  expect((await signIn('pc-2')).status).toBe(200)
  expect((await list()).clients[0].hwid).toBe('pc-2')
  expect(refusal(await signIn('pc-1'))).toBe('hwidMismatch')
})

test.each(['one', 'many'])('a reset of %s ends no session: another device does that', async (amount) => {
  const { license, user, program } = await activateKey(on, owner, app, 'pc-1')
  await (amount === 'one'
    ? owner.call('PATCH', `/clients/${user._id}/reset-hwid`)
    : owner.call('POST', '/clients/bulk', { action: 'reset-hwid', ids: [user._id] }))
  expect((await program.call('GET', '/session')).status).toBe(200)
  const other = await startProgram(on, app)
  const signedIn = await other.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-2' })
  expect(signedIn.status).toBe(200)
  expect(refusal(await program.call('GET', '/session'))).toBe('hwidMismatch')
  expect((await other.call('GET', '/session')).status).toBe(200)
})

describe('extending', () => {
  const extend = (id: string, days: unknown) => owner.call('PATCH', `/clients/${id}/extend`, { days })

  test('adds days to the current expiry of user and license', async () => {
    const { user, license } = await registerUser(on, owner, app)
    const { json } = await extend(user._id, 10)
    expect(json.data.client.expiresAt).toBe(on.clock.inDays(40))
    expect(await licenseOf(license._id)).toMatchObject({ expiresAt: on.clock.inDays(40) })
  })

  test('counts from now after the expiry has passed', async () => {
    const { user, license, program } = await registerUser(on, owner, app)
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: '2001-01-01' })
    on.clock.advance(5 * 60_000)
    const { json } = await extend(user._id, 1)
    expect(json.data.client).toMatchObject({ expiresAt: on.clock.inDays(1), status: 'active' })
    expect(await licenseOf(license._id)).toMatchObject({ expiresAt: on.clock.inDays(1), status: 'active' })
    expect((await program.call('GET', '/session')).status).toBe(200)
  })

  test('reactivates an end user whose license was deleted', async () => {
    const { user, license, program } = await registerUser(on, owner, app)
    await owner.call('DELETE', `/licenses/${license._id}`)
    expect((await extend(user._id, 2)).json.data.client.expiresAt).toBe(on.clock.inDays(2))
    expect((await program.call('GET', '/session')).status).toBe(200)
  })

  test('keeps the expiry of a key added later', async () => {
    const { user, program } = await registerUser(on, owner, app)
    const added = single(await makeLicenses(on, owner, app, 1, 7))
    await program.call('POST', '/upgrade', { username: 'alice', licenseKey: added.key })
    await extend(user._id, 3)
    expect(await licenseOf(added._id)).toMatchObject({ expiresAt: on.clock.inDays(7), used: true })
  })

  test.each([0, -1, 3651, 1.5, '7', null])('rejects %j days', async (days) => {
    const { user } = await registerUser(on, owner, app)
    expect(wrongFields(await extend(user._id, days))).toEqual(['days'])
  })
})

describe('deleting an end user', () => {
  test('ends its sessions and frees all its licenses', async () => {
    const { user, license, program } = await registerUser(on, owner, app)
    const added = single(await makeLicenses(on, owner, app))
    await program.call('POST', '/upgrade', { username: 'alice', licenseKey: added.key })
    expect((await owner.call('DELETE', `/clients/${user._id}`)).status).toBe(200)
    expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
    expect(refusal(await owner.call('DELETE', `/clients/${user._id}`))).toBe('not_found')
    for (const { _id } of [license, added]) {
      expect(await licenseOf(_id)).toMatchObject({
        used: false,
        usedBy: null,
        usedAt: null,
        added: false,
        status: 'unused',
      })
    }
    const other = await startProgram(on, app)
    const again = { username: 'alice', password: 'swordfish', licenseKey: license.key }
    expect((await other.call('POST', '/register', again)).status).toBe(200)
  })
})

describe('the list', () => {
  test('searches names and keys, with and without hyphens, in this app only', async () => {
    const { license } = await registerUser(on, owner, app, 'Zoë_100%')
    await create({ username: 'somebody' })
    for (const text of [
      'zoë',
      'ZOË_1',
      '_100%',
      license.key,
      license.key.replaceAll('-', '').slice(2, 12),
      'zo',
    ]) {
      expect(names(await list(`&search=${encodeURIComponent(text)}`))).toEqual(['Zoë_100%'])
    }
    for (const text of ['%', '___', '"', "' or 1=1", 'nobody']) {
      expect(names(await list(`&search=${encodeURIComponent(text)}`))).toEqual([])
    }
    const other = await makeApp(owner, 'Other')
    expect((await owner.call('GET', `/clients?app=${other._id}&search=zoë`)).json.data.clients).toEqual([])
  })

  test('returns pages, newest first', async () => {
    for (const username of ['one', 'two', 'three', 'four', 'five']) await create({ username })
    const pages = await Promise.all([1, 2, 3].map((page) => list(`&limit=2&page=${page}`)))
    expect(pages.flatMap(names)).toEqual(['five', 'four', 'three', 'two', 'one'])
    expect(pages[2].pagination).toEqual({ page: 3, limit: 2, total: 5, pages: 3 })
  })

  test('moves end users to expired as time passes', async () => {
    await create({ username: 'soon', expiresAt: on.clock.inDays(1) })
    await create({ username: 'later' })
    expect((await list()).stats).toMatchObject({ active: 2, expired: 0 })
    on.clock.advance(day - 1)
    expect((await list()).stats).toMatchObject({ active: 2, expired: 0 })
    on.clock.advance(1)
    expect((await list()).stats).toMatchObject({ active: 1, expired: 1 })
    expect(names(await list('&status=expired'))).toEqual(['soon'])
    expect((await list()).clients.map((one: { status: string }) => one.status)).toEqual(['active', 'expired'])
  })
})
