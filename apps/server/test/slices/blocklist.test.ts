// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { expect, test } from 'vitest'
import { activateKey, makeApp, refusal, registerUser, signUp, startProgram, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const block = (kind: 'hwid' | 'address', value: string, reason?: string) =>
  owner.call('POST', `/apps/${app._id}/blocklist`, { kind, value, reason })
const list = async () => (await owner.call('GET', `/apps/${app._id}/blocklist`)).json.data

const validate = (licenseKey: string, from: string, hwid?: string) =>
  on.call('POST', '/client/validate', { from, body: { appId: app.appId, licenseKey, hwid } })

test('a blocked device is refused from the next call on, with the reason, until it is unblocked', async () => {
  await owner.call('PUT', `/apps/${app._id}/error-messages`, { hwidBlacklisted: 'Blocked: {reason}' })
  const { program, license } = await activateKey(on, owner, app, 'pc-1')
  const made = await block('hwid', 'pc-1', 'shared $& publicly')
  expect(made.status).toBe(201)
  const refused = await program.call('GET', '/session')
  expect(refusal(refused)).toBe('hwidBlacklisted')
  expect(refused.json.message).toBe('Blocked: shared $& publicly')
  expect((await validate(license.key, '10.0.0.1', 'pc-1')).json).toMatchObject({
    message: 'Blocked: shared $& publicly',
    data: { valid: false, code: 'hwidBlacklisted' },
  })
  const again = await startProgram(on, app)
  expect(refusal(await again.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' }))).toBe(
    'hwidBlacklisted',
  )
  expect((await owner.call('DELETE', `/blocklist/${made.json.data.block._id}`)).status).toBe(200)
  expect((await program.call('GET', '/session')).status).toBe(200)
})

test('a blocked device redeems no key and creates no end user', async () => {
  await block('hwid', 'pc-1')
  const { json } = await owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(9) })
  const licenseKey = json.data.license.key
  const program = await startProgram(on, app)
  const body = { licenseKey, hwid: 'pc-1' }
  expect(refusal(await program.call('POST', '/license', body))).toBe('hwidBlacklisted')
  const alice = { username: 'alice', password: 'swordfish', ...body }
  expect(refusal(await program.call('POST', '/register', alice))).toBe('hwidBlacklisted')
  const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
  expect(licenses).toEqual([expect.objectContaining({ used: false })])
})

test('a blocked device or address adds no key to an end user', async () => {
  const { program, license } = await activateKey(on, owner, app, 'pc-1')
  const { json } = await owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(9) })
  const body = { username: license.key, licenseKey: json.data.license.key }
  const upgrade = (from: string) => program.call('POST', '/upgrade', body, { from })
  await block('address', '203.0.113.7')
  expect(refusal(await upgrade('203.0.113.7'))).toBe('hwidBlacklisted')
  const { data } = (await block('hwid', 'pc-1')).json
  expect(refusal(await upgrade('203.0.113.8'))).toBe('hwidBlacklisted')
  await owner.call('DELETE', `/blocklist/${data.block._id}`)
  expect((await upgrade('203.0.113.8')).status).toBe(200)
})

test.each([
  ['203.0.113.7', '203.0.113.7', '203.0.113.8'],
  ['203.0.113.77/24', '203.0.113.200', '203.0.114.1'],
  ['203.0.113.7', '::ffff:203.0.113.7', '::ffff:203.0.113.8'],
  ['203.0.113.7', '::ffff:cb00:7107', '::ffff:cb00:7108'],
  ['::ffff:cb00:7107', '203.0.113.7', '203.0.113.8'],
  ['::ffff:203.0.113.0/120', '203.0.113.9', '203.0.112.9'],
  ['2001:db8:1:2::9', '2001:db8:1:2:aaaa::1', '2001:db8:1:3::9'],
  ['2001:db8::/32', '2001:db8:ffff::1', '2001:db9::1'],
])('blocking %s refuses %s and not %s', async (value, inside, outside) => {
  const { program } = await activateKey(on, owner, app)
  expect((await block('address', value)).status).toBe(201)
  const session = (from: string) => program.call('GET', '/session', undefined, { from })
  expect(refusal(await session(inside))).toBe('hwidBlacklisted')
  expect((await session(outside)).status).toBe(200)
  // The server trusts no proxy here, so it ignores this header: the caller is `outside`.
  const forwarded = { from: outside, headers: { 'x-forwarded-for': inside } }
  expect(refusal(await program.call('GET', '/session', undefined, forwarded))).toBe('forwarded_refused')
})

test('a forwarded address counts exactly if the proxy is trusted', async () => {
  const proxied = await startServer({
    TRUST_PROXY: '10.0.0.0/8',
    RATE_LIMITS: 'on',
    DATABASE_URL: '',
    PAYMENTS: 'off',
  })
  try {
    const vendor = await signUp(proxied)
    const theirs = await makeApp(vendor)
    const { program } = await activateKey(proxied, vendor, theirs)
    await vendor.call('POST', `/apps/${theirs._id}/blocklist`, { kind: 'address', value: '203.0.113.7' })
    const call = (from: string, forwarded: string) =>
      program.call('GET', '/session', undefined, { from, headers: { 'x-forwarded-for': forwarded } })
    expect(refusal(await call('10.1.2.3', '203.0.113.7'))).toBe('hwidBlacklisted')
    expect((await call('198.51.100.1', '203.0.113.7')).status).toBe(200)
    expect((await call('10.1.2.3', '203.0.113.7, 198.51.100.9')).status).toBe(200)
  } finally {
    await proxied.close()
  }
})

test('rejects text that is not an address, and networks that would lock out everyone', async () => {
  for (const value of [
    '0.0.0.0/0',
    '::/0',
    '1.0.0.0/7',
    '::ffff:0.0.0.0/96',
    'example.com',
    '1.2.3',
    '1.2.3.4/33',
  ])
    expect(wrongFields(await block('address', value))).toEqual(['value'])
  expect(wrongFields(await block('hwid', ' '))).toEqual(['value'])
  expect(wrongFields(await block('hwid', 'x'.repeat(257)))).toEqual(['value'])
  expect((await list()).blocks).toEqual([])
})

test('lists entries once, newest first, in their shortest form', async () => {
  await block('hwid', 'pc-1', 'first')
  await block('address', '203.0.113.99/24')
  expect(refusal(await block('address', '203.0.113.0/24'))).toBe('already_blocked')
  expect(refusal(await block('hwid', 'pc-1'))).toBe('already_blocked')
  const { blocks, pagination } = await list()
  expect(blocks).toEqual([
    {
      _id: expect.stringMatching(/^blk_/),
      kind: 'address',
      value: '203.0.113.0/24',
      reason: null,
      createdAt: on.clock.inDays(0),
    },
    {
      _id: expect.stringMatching(/^blk_/),
      kind: 'hwid',
      value: 'pc-1',
      reason: 'first',
      createdAt: on.clock.inDays(0),
    },
  ])
  expect(pagination.total).toBe(2)
})

test('is full for everyone at once: of eight concurrent callers one gets the last place', async () => {
  const rows = Array.from({ length: limits.blocklistMax - 1 }, (_, at) => ({
    id: `blk_${app._id}_${at}`,
    owner_id: owner.id,
    app_id: app._id,
    kind: 'hwid' as const,
    value: `pc-${at}`,
    value_key: `key ${at}`,
    reason: null,
    created_at: 0,
  }))
  for (let at = 0; at < rows.length; at += 1000)
    await on.database.db
      .insertInto('blocklist')
      .values(rows.slice(at, at + 1000))
      .execute()
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => block('hwid', `machine ${at}`)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 403).map(refusal)).toEqual(Array(7).fill('blocklist_full'))
  expect((await list()).pagination.total).toBe(limits.blocklistMax)
})

test('a ban with a reason blocks devices and address too, and unbanning leaves them blocked', async () => {
  await owner.call('PUT', `/apps/${app._id}/error-messages`, { userBanned: 'Banned ({reason})' })
  const { program, user } = await registerUser(on, owner, app)
  const login = { username: 'alice', password: 'swordfish', hwid: 'pc-1' }
  await program.call('POST', '/login', login, { from: '203.0.113.7' })
  const ban = { is_banned: true, reason: 'charged back', blockDevices: true }
  const banned = await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, ban)
  expect(banned.json.data.client).toMatchObject({ ban: true, banReason: 'charged back' })
  const refused = await program.call('GET', '/session')
  expect([refusal(refused), refused.json.message]).toEqual(['userBanned', 'Banned (charged back)'])
  expect(
    (await list()).blocks.map(({ kind, value, reason }: Record<string, string>) => [kind, value, reason]),
  ).toEqual([
    ['address', '203.0.113.7', 'charged back'],
    ['hwid', 'pc-1', 'charged back'],
  ])
  // Blocked already: the ban itself still works.
  expect((await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, ban)).status).toBe(200)
  const free = await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: false })
  expect(free.json.data.client).toMatchObject({ ban: false, banReason: null })
  expect(refusal(await program.call('GET', '/session'))).toBe('hwidBlacklisted')
})

test('a banned key is refused with its reason', async () => {
  await owner.call('PUT', `/apps/${app._id}/error-messages`, { keyBanned: '{reason}' })
  const { program, license } = await activateKey(on, owner, app)
  const body = { is_banned: true, reason: 'refunded' }
  const { json } = await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`, body)
  expect(json.data.license).toMatchObject({ banned: true, banReason: 'refunded' })
  expect((await program.call('GET', '/session')).json.message).toBe('refunded')
  const { key } = license
  expect((await validate(key, '10.0.0.1')).json).toMatchObject({
    message: 'refunded',
    data: { code: 'keyBanned' },
  })
})

test('a ban without a reason gets the next text that names none', async () => {
  await owner.call('PUT', `/apps/${app._id}/error-messages`, { keyBanned: 'Blocked: {reason}' })
  const { program, license } = await activateKey(on, owner, app)
  const ban = (body: object) => owner.call('POST', '/licenses/bulk', { ids: [license._id], ...body })
  const message = async () => (await program.call('GET', '/session')).json.message
  await ban({ action: 'ban', reason: '  ' })
  expect(await message()).toBe('License key is banned')
  await ban({ action: 'unban' })
  const { json } = await ban({ action: 'ban', reason: 'charged back' })
  expect(json.data.licenses[0]).toMatchObject({ banned: true, banReason: 'charged back' })
  expect(await message()).toBe('Blocked: charged back')
  const undone = await owner.call('POST', '/licenses/bulk/undo', { undo: json.data.undo })
  expect(undone.json.data).toMatchObject({ changed: 1, skipped: [] })
  const german = `/apps/${app._id}/error-messages?locale=de`
  await owner.call('PUT', german, { keyBanned: 'Gesperrt: {reason}' })
  await owner.call('PUT', `/apps/${app._id}/error-messages`, { keyBanned: 'Gesperrt' })
  await ban({ action: 'ban' })
  expect((await validate(license.key, '10.0.0.1')).json.message).toBe('Gesperrt')
})
