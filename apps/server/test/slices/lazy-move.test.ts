// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { minute, day as oneDay } from '../../src/core/clock.ts'
import { makeApp, makeLicenses, makePremium, refusal, signUp, startProgram } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { importAll, keyAuthUser, usersFile } from '../imported.ts'
import { type Fault, type OldProviderHost, type Protocol, startOldProvider } from '../old-provider.ts'
import { recount } from '../recount.ts'
import { isFull } from '../rounds.ts'

const on = serverForAll(
  { RATE_LIMITS: 'on' },
  { gateSizes: { requests: { running: 100, waiting: 0 } }, oldProviderMs: 3000 },
)
const owner = ownerForEach(on)
const app = appForEach(owner)

let old: OldProviderHost
let addresses = 0
/** An address without failures. */
let from = ''

beforeEach(async () => {
  addresses += 1
  from = `198.51.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`
  await makePremium(on, owner)
})
afterEach(() => old?.close())

const save = (change: object = {}) =>
  owner.call('PUT', `/apps/${app._id}/lazy-move`, {
    url: old.url,
    ...old.settings,
    until: on.clock.inDays(30),
    ...change,
  })

async function begin(protocol: Protocol = '1.2', change: object = {}) {
  old = await startOldProvider(protocol, () => on.clock.now())
  expect((await save(change)).status).toBe(200)
}

const signIn = async (path: '/login' | '/license', body: object, address = from) => {
  const program = await startProgram(on, app, { from: address })
  return program.call('POST', path, body)
}
const login = (username: string, password: string, hwid = 'pc-1') =>
  signIn('/login', { username, password, hwid })
const byKey = (licenseKey: string, hwid = 'pc-1') => signIn('/license', { licenseKey, hwid })
const counts = async () => {
  const { moved, failed, lastFailure } = (await owner.call('GET', `/apps/${app._id}/lazy-move`)).json.data
  return { moved, failed, reason: lastFailure?.reason ?? null }
}
const clients = async () => (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients
const licenses = async () => (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses

describe('the settings', () => {
  test('are empty at first, and are saved whole', async () => {
    old = await startOldProvider('1.2', () => on.clock.now())
    const first = (await owner.call('GET', `/apps/${app._id}/lazy-move`)).json.data
    expect(first).toEqual({
      ...{ url: null, protocol: null, name: null, ownerId: null, secret: null, publicKey: null },
      ...{ until: null, moved: 0, failed: 0, lastFailure: null },
    })
    const until = on.clock.inDays(30)
    const saved = { ...first, url: old.url, ...old.settings, until }
    expect((await save()).json.data).toEqual(saved)
    expect((await owner.call('GET', `/apps/${app._id}/lazy-move`)).json.data).toEqual(saved)
    const { secret: _secret, ...withoutSecret } = old.settings
    const off = await owner.call('PUT', `/apps/${app._id}/lazy-move`, {
      ...{ url: old.url, ...withoutSecret, until: null },
    })
    expect(off.json.data).toMatchObject({ secret: null, until: null })
  })

  test('keep the secret sealed, and record neither it nor the path', async () => {
    await begin('1.2', { url: 'https://old.example/token-in-path/' })
    const row = await on.database.db
      .selectFrom('lazy_moves')
      .selectAll()
      .where('app_id', '=', app._id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(old.settings.secret)
    const { records } = (await owner.call('GET', `/audit?action=app.lazy_move_changed`)).json.data
    expect(records[0].detail).toEqual({
      before: null,
      after: {
        origin: 'https://old.example',
        ...{ protocol: '1.2', name: 'Atlas', ownerId: 'Kw3nD0rId1', verified: true },
        until: on.clock.now() + 30 * oneDay,
      },
    })
  })

  test.each<[string, object, string]>([
    ['a private address', { url: 'https://10.0.0.1/api/1.2/' }, 'url'],
    ['an owner id of another length', { ownerId: 'short' }, 'ownerId'],
    ['1.0 without a secret', { protocol: '1.0', secret: null }, 'secret'],
    ['1.1 with a secret, which signs nothing', { protocol: '1.1' }, 'secret'],
    ['1.3 that verifies by secret', { protocol: '1.3' }, 'publicKey'],
    ['a public key of 1.2', { publicKey: 'a'.repeat(64) }, 'publicKey'],
  ])('refuse %s', async (_what, change, path) => {
    old = await startOldProvider('1.2', () => on.clock.now())
    const answer = await save(change)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.json)).toContain(path)
  })

  test('are of one app: another owner sees a missing one', async () => {
    await begin()
    const other = await signUp(on)
    expect((await other.call('GET', `/apps/${app._id}/lazy-move`)).status).toBe(404)
  })
})

const transport: Fault[] = [
  ...(['an answer that drips', 'headers that drip', 'huge body', 'no answer'] as const),
  ...(['redirect', 'no JSON', 'status 500'] as const),
]

describe.each<Protocol>(['1.0', '1.1', '1.2', '1.3'])('protocol %s', (protocol) => {
  test('takes over name, password, device and time left at the first sign-in', async () => {
    await begin(protocol)
    old.add('Frodo', { password: 'ring-bearer-1', key: 'KA-FRODO-1', hwid: 'pc-1' })
    const answer = await login('frodo', 'ring-bearer-1')
    expect(answer.status).toBe(200)
    expect(answer.json.data.user).toMatchObject({
      username: 'frodo',
      expiresAt: on.clock.inDays(30),
      devices: { used: 1, limit: 1 },
    })
    expect(await counts()).toEqual({ moved: 1, failed: 0, reason: null })
    expect(await licenses()).toMatchObject([{ key: 'KA-FRODO-1', used: true }])
    old.close()
    expect((await login('FRODO', 'ring-bearer-1')).status).toBe(200)
    expect(refusal(await login('frodo', 'ring-bearer-1', 'pc-2'))).toBe('hwidMismatch')
    expect(refusal(await login('frodo', 'wrong'))).toBe('passMismatch')
    expect(refusal(await byKey('KA-FRODO-1'))).toBe('keyUsed')
    expect(old.asked).toEqual(['login frodo'])
    const { records } = (await owner.call('GET', '/audit?action=end_user.moved')).json.data
    expect(records).toHaveLength(1)
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('takes over a key', async () => {
    await begin(protocol)
    old.add('KA-BBBB-2', { hwid: 'pc-1' })
    expect((await byKey('KA-BBBB-2')).status).toBe(200)
    old.close()
    expect((await byKey('ka-bbbb-2')).status).toBe(200)
    expect(refusal(await byKey('KA-BBBB-2', 'pc-2'))).toBe('hwidMismatch')
    expect(await clients()).toMatchObject([{ username: 'KA-BBBB-2' }])
  })

  test('leaves the refusals as they are when the old provider refuses', async () => {
    await begin(protocol)
    old.add('frodo', { password: 'ring-bearer-1', hwid: 'pc-1' })
    expect(refusal(await login('sam', 'potatoes'))).toBe('usernameNotFound')
    expect(refusal(await login('frodo', 'wrong'))).toBe('usernameNotFound')
    expect(refusal(await login('frodo', 'ring-bearer-1', 'pc-2'))).toBe('usernameNotFound')
    expect(refusal(await byKey('KA-NONE-1'))).toBe('keyNotFound')
    expect(await counts()).toEqual({ moved: 0, failed: 4, reason: 'Invalid license key' })
    expect(await clients()).toEqual([])
  })

  const unverified: Fault[] = ['wrong signature', 'no signature', 'replayed answer']
  const faults: Fault[] = [
    ...(protocol === '1.1' ? [] : unverified),
    ...(protocol === '1.3' ? (['old timestamp'] as const) : []),
    // One request reads the answers of all protocols.
    ...(protocol === '1.2' || isFull ? transport : []),
    ...(['another end user', 'no subscription', 'unknown app'] as const),
  ]
  test.each(faults)('takes nobody over after: %s', async (fault) => {
    await begin(protocol)
    old.add('sam', { password: 'potatoes' })
    old.add('frodo', { password: 'ring-bearer-1' })
    if (fault === 'replayed answer') expect((await login('sam', 'potatoes')).status).toBe(200)
    const before = (await clients()).length
    old.fault = fault
    expect(refusal(await login('frodo', 'ring-bearer-1'))).toBe('usernameNotFound')
    expect(await clients()).toHaveLength(before)
    expect(await counts()).toMatchObject({ failed: 1 })
    expect(old.asked.filter((one) => one.endsWith('elsewhere'))).toEqual([])
    old.fault = undefined
    expect((await login('frodo', 'ring-bearer-1')).status).toBe(200)
  })
})

test('an answer of 1.2 need not be signed without a secret', async () => {
  await begin('1.2', { secret: null })
  old.add('frodo')
  old.fault = 'no signature'
  expect((await login('frodo', 'frodo')).status).toBe(200)
})

describe('is not asked', () => {
  test('before it is set, once it is turned off, and after its date', async () => {
    old = await startOldProvider('1.2', () => on.clock.now())
    old.add('frodo')
    expect(refusal(await login('frodo', 'frodo'))).toBe('usernameNotFound')
    await save({ until: null })
    expect(refusal(await login('frodo', 'frodo'))).toBe('usernameNotFound')
    await save({ until: on.clock.inDays(1) })
    on.clock.advance(oneDay)
    expect(refusal(await login('frodo', 'frodo'))).toBe('usernameNotFound')
    expect(old.asked).toEqual([])
  })

  test('for names and keys that exist here, with a wrong password, a ban or another device too', async () => {
    await begin()
    old.add('frodo', { password: 'old password' })
    const { client } = (
      await owner.call('POST', '/clients/create-direct', {
        ...{ username: 'frodo', password: 'new password', appId: app._id, hwid: 'pc-1' },
        expiresAt: on.clock.inDays(1),
      })
    ).json.data
    const [license] = await makeLicenses(on, owner, app)
    old.add(license!.key)
    old.add('taken-name', { password: 'taken-name' })
    expect(refusal(await login('Frodo', 'old password'))).toBe('passMismatch')
    expect(refusal(await login(license!.key, license!.key))).toBe('usernameNotFound')
    await owner.call('PATCH', `/clients/${client._id}/toggle-ban`, { is_banned: true })
    expect(refusal(await login('frodo', 'new password'))).toBe('userBanned')
    await owner.call('PATCH', `/licenses/${license!._id}/toggle-ban`, { is_banned: true })
    expect(refusal(await byKey(license!.key))).toBe('keyBanned')
    expect(old.asked).toEqual([])
  })

  test('for names and keys that were deleted or renamed here, one by one or together', async () => {
    await begin()
    const names = ['gone-1', 'gone-2', 'renamed']
    const ids: string[] = []
    for (const username of names) {
      const body = { username, password: 'new password', appId: app._id, expiresAt: on.clock.inDays(1) }
      ids.push((await owner.call('POST', '/clients/create-direct', body)).json.data.client._id)
      old.add(username)
    }
    const keys = await makeLicenses(on, owner, app, 3)
    for (const { key } of keys) old.add(key)
    expect((await owner.call('DELETE', `/clients/${ids[0]}`)).status).toBe(200)
    expect((await owner.call('POST', '/clients/bulk', { action: 'delete', ids: [ids[1]] })).status).toBe(200)
    expect((await owner.call('PATCH', `/clients/${ids[2]}`, { username: 'other' })).status).toBe(200)
    expect((await owner.call('DELETE', `/licenses/${keys[0]!._id}`)).status).toBe(200)
    const bulk = await owner.call('POST', '/licenses/bulk', { action: 'delete', ids: [keys[1]!._id] })
    expect(bulk.status).toBe(200)
    expect((await owner.call('DELETE', `/licenses?app=${app._id}`)).status).toBe(200)
    for (const name of names) expect(refusal(await login(name.toUpperCase(), name))).toBe('usernameNotFound')
    for (const { key } of keys) expect(refusal(await byKey(key.toLowerCase()))).toBe('keyNotFound')
    expect(old.asked).toEqual([])
  })

  test('from a blocked machine', async () => {
    await begin()
    old.add('frodo')
    const block = { kind: 'hwid', value: 'pc-1' }
    expect((await owner.call('POST', `/apps/${app._id}/blocklist`, block)).status).toBe(201)
    expect(refusal(await login('frodo', 'frodo'))).toBe('usernameNotFound')
    expect(old.asked).toEqual([])
  })

  test('from an address with 10 failures in 15 minutes', async () => {
    await begin()
    old.add('frodo')
    const guesses = Array.from({ length: 14 }, (_, at) => byKey(`GUESS-${at}-00000`))
    const codes = (await Promise.all(guesses)).map((answer) => refusal(answer))
    // Nobody was asked about the others: a neighbor's key may be right.
    expect(codes.sort()).toEqual([...Array(4).fill('busy'), ...Array(10).fill('keyNotFound')])
    expect(old.asked).toHaveLength(10)
    expect(refusal(await login('frodo', 'frodo'))).toBe('busy')
    expect((await signIn('/login', { username: 'frodo', password: 'frodo' }, '192.0.2.77')).status).toBe(200)
    on.clock.advance(15 * minute)
    old.add('sam')
    expect((await login('sam', 'sam')).status).toBe(200)
  })
})

describe('an account whose name the old provider compares without accents', () => {
  test('moves once, however its name is spelled', async () => {
    await begin()
    old.add('frodo')
    expect((await login('fr\u00f3do', 'frodo')).status).toBe(200)
    for (const name of ['frodo', 'FR\u00d6DO', 'fro\u0302do', 'frodo<b>', '<i>frodo'])
      expect(refusal(await login(name, 'frodo'))).toBe('usernameNotFound')
    expect((await login('FR\u00d3DO', 'frodo')).status).toBe(200)
    expect(old.asked).toHaveLength(1)
    old.add('sam')
    const spellings = ['sam', 's\u00e1m', 's\u00e0m', 's\u00e4m', 's\u00e2m']
    const programs = await Promise.all(spellings.map(() => startProgram(on, app, { from })))
    const answers = await Promise.all(
      programs.map((program, at) =>
        program.call('POST', '/login', { username: spellings[at], password: 'sam', hwid: 'pc-1' }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await clients()).toHaveLength(2)
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('is not asked for if it was imported, deleted or created here by another spelling', async () => {
    await begin()
    const users = [keyAuthUser('jos\u00e9'), keyAuthUser('pippin'), keyAuthUser('m\u00e9rry')]
    await importAll(owner, app, [usersFile(users)])
    for (const name of ['jose', 'pippin', 'merry']) old.add(name)
    const [merry] = (await clients()).filter(
      ({ username }: { username: string }) => username === 'm\u00e9rry',
    )
    expect((await owner.call('DELETE', `/clients/${merry._id}`)).status).toBe(200)
    for (const name of ['jose', 'JOS\u00c8', 'p\u00edppin', 'merry', 'm\u00e8rry'])
      expect(refusal(await login(name, 'jose'))).toBe('usernameNotFound')
    expect(old.asked).toEqual([])
  })
})

test('a move leaves no trace in the limits of guesses', async () => {
  await begin()
  for (let at = 0; at < 12; at += 1) {
    old.add(`KA-MOVED-${at}`)
    old.add(`user-${at}`)
    expect((await byKey(`KA-MOVED-${at}`)).status).toBe(200)
    expect((await login(`user-${at}`, `user-${at}`)).status).toBe(200)
  }
  expect(await counts()).toMatchObject({ moved: 24, failed: 0 })
})

test('a provider that is down is not asked all the time, and changes nothing for those who have moved', async () => {
  await begin()
  old.add('frodo')
  expect((await login('frodo', 'frodo')).status).toBe(200)
  old.fault = 'status 500'
  for (let at = 0; at < 12; at += 1) expect(refusal(await login(`sam-${at}`, 'x'))).toBe('usernameNotFound')
  expect(old.asked.filter((one) => one.startsWith('login sam'))).toHaveLength(5)
  expect((await login('frodo', 'frodo')).status).toBe(200)
  old.fault = undefined
  old.add('sam', { password: 'potatoes' })
  on.clock.advance(30_000)
  expect((await login('sam', 'potatoes')).status).toBe(200)
})

test('the plan limits who can move', async () => {
  await begin()
  await on.database.db.updateTable('owners').set({ premium_until: null }).where('id', '=', owner.id).execute()
  await on.database.db
    .updateTable('apps')
    .set({ license_count: 1_000_000 })
    .where('id', '=', app._id)
    .execute()
  old.add('frodo')
  expect(refusal(await login('frodo', 'frodo'))).toBe('usernameNotFound')
  expect(await counts()).toMatchObject({ moved: 0, failed: 1, reason: expect.stringContaining('plan') })
  await on.database.db.updateTable('apps').set({ license_count: 0 }).where('id', '=', app._id).execute()
})

describe('a key that the end user brings', () => {
  test('and that is here and unused becomes theirs, until the end that they had', async () => {
    await begin()
    const key = 'IMPORTED-KEY-1'
    const body = { app: app._id, key, duration: { value: 1, unit: 'years' } }
    await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
    expect((await owner.call('POST', '/licenses', body)).status).toBe(201)
    old.add('frodo', { key })
    const { user } = (await login('frodo', 'frodo')).json.data
    expect(user.expiresAt).toBe(on.clock.inDays(30))
    expect(await licenses()).toMatchObject([{ key, used: true, expiresAt: on.clock.inDays(30) }])
  })

  test('and that is banned or deleted here moves nobody', async () => {
    await begin()
    const [banned, deleted] = await makeLicenses(on, owner, app, 2)
    await owner.call('PATCH', `/licenses/${banned!._id}/toggle-ban`, { is_banned: true })
    await owner.call('DELETE', `/licenses/${deleted!._id}`)
    old.add('frodo', { key: banned!.key })
    old.add('sam', { key: deleted!.key })
    expect(refusal(await login('frodo', 'frodo'))).toBe('usernameNotFound')
    expect(refusal(await login('sam', 'sam'))).toBe('usernameNotFound')
    expect(await clients()).toEqual([])
  })
})

describe('32 programs at once', () => {
  test('with one unknown key move it once and ask once', async () => {
    await begin()
    old.add('KA-RACE-1')
    const programs = await Promise.all(Array.from({ length: 32 }, () => startProgram(on, app, { from })))
    const answers = await Promise.all(
      programs.map((program) => program.call('POST', '/license', { licenseKey: 'KA-RACE-1', hwid: 'pc-1' })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(200))
    expect(old.asked).toEqual(['license KA-RACE-1'])
    expect(await licenses()).toHaveLength(1)
    expect(await counts()).toMatchObject({ moved: 1, failed: 0 })
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('with one unknown key on 32 machines: one signs in, the others learn that it is bound', async () => {
    await begin()
    old.add('KA-RACE-2')
    const programs = await Promise.all(Array.from({ length: 32 }, () => startProgram(on, app, { from })))
    const answers = await Promise.all(
      programs.map((program, at) =>
        program.call('POST', '/license', { licenseKey: 'KA-RACE-2', hwid: `pc-${at}` }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer.json.code === 'hwidMismatch')).toHaveLength(31)
    expect(old.asked).toHaveLength(1)
  })

  test('one old provider gets one request at a time, and others are not kept waiting', async () => {
    await begin()
    for (let at = 0; at < 20; at += 1) old.add(`KA-MANY-${at}`)
    const open = Promise.withResolvers<void>()
    old.gate = open.promise
    const moves = Array.from({ length: 20 }, (_, at) => byKey(`KA-MANY-${at}`, `pc-${at}`))
    await expect.poll(() => old.open).toBe(1)
    const [license] = await makeLicenses(on, owner, app)
    expect((await byKey(license!.key)).status).toBe(200)
    const other = await makeApp(owner)
    const program = await startProgram(on, other, { from })
    expect(refusal(await program.call('POST', '/license', { licenseKey: 'KA-NONE-1' }))).toBe('keyNotFound')
    open.resolve()
    await Promise.all(moves)
    expect(old.mostOpen).toBe(1)
  })
})
