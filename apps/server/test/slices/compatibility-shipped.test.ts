// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeApp, makeLicenses, refusal, signUp, single, startProgram } from '../actors.ts'
import { makeOldApp, send, start12, turnOn } from '../compatibility-actor.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { importAll, keyAuthUser, usersFile } from '../imported.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const hwid = 'S-1-5-21-1004336348-1177238915-682003330-512'
const ring = 'ring-bearer-1'

async function signedIn(more: Record<string, string> = {}) {
  const { app, settings } = await makeOldApp(owner)
  const { key } = single(await makeLicenses(on, owner, app))
  const program = await start12(on, settings)
  const user = { username: 'frodo', pass: ring }
  expect(await program.call('register', { ...user, key, hwid, ...more })).toMatchObject({ success: true })
  return { app, settings, program, user, key }
}

/** An app with imported end users. */
async function imported(...users: { username: string }[]) {
  const { app, settings } = await makeOldApp(owner)
  await importAll(owner, app, [usersFile(users)])
  const login = async (fields: Record<string, string>, type = 'login') =>
    (await start12(on, settings)).call(type, { pass: ring, ...fields })
  return { app, settings, login }
}

test('a check says the role that keeps programs in C++ checking, so that a ban reaches them', async () => {
  const { app, program } = await signedIn()
  expect(await program.call('check')).toMatchObject({ success: true, role: 'seller' })
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  await owner.call('PATCH', `/clients/${clients[0]._id}/toggle-ban`, { is_banned: true })
  expect(await program.call('check')).toMatchObject({ success: false, message: 'User account is banned' })
})

test('a domain that a vendor had at the old system leads to paths without /api', async () => {
  const { settings } = await makeOldApp(owner)
  for (const path of ['/1.2/', '/1.2']) expect(await start12(on, settings, { path })).toBeDefined()
  const { payload } = await send(
    on,
    { type: 'init', name: 'x', ownerid: settings.ownerId },
    { path: '/1.3/' },
  )
  expect(payload).toBe('KeyAuth_Invalid')
})

test('the figures name as many online users as the list has', async () => {
  const { app, program } = await signedIn()
  const { db } = on.database
  const { seq: _seq, ...client } = (await db
    .selectFrom('clients')
    .selectAll()
    .where('app_id', '=', app._id)
    .executeTakeFirstOrThrow()) as Record<string, unknown> & { id: string }
  const session = await db
    .selectFrom('client_sessions')
    .selectAll()
    .where('client_id', '=', client.id)
    .executeTakeFirstOrThrow()
  const copies = Array.from({ length: 130 }, (_, at) => `${app._id}_${at}`)
  const clients = copies.map((id, at) => ({
    ...{ ...client, id, license_id: null, username: `user${at}`, username_normalized: `user${at}` },
  }))
  await db
    .insertInto('clients')
    .values(clients as never)
    .execute()
  const sessions = copies.map((id) => ({ ...session, id, token_hash: id, client_id: id }))
  await db.insertInto('client_sessions').values(sessions).execute()
  const { users } = await program.call('fetchOnline')
  const { appinfo } = await program.call('fetchStats')
  expect([users.length, appinfo.numOnlineUsers]).toEqual([131, '131'])
})

test('short hardware ids are bound: an imported Mac gets in, and a second one does not', async () => {
  const { login } = await imported(keyAuthUser('frodo', { hwid: 'C02XL0GTJGH5' }))
  expect(await login({ username: 'frodo', hwid: 'C02ZZ9ZZZZZ9' })).toMatchObject({
    message: 'Hardware ID mismatch',
  })
  expect(await login({ username: 'frodo', hwid: 'C02XL0GTJGH5' })).toMatchObject({ success: true })
  const { settings, user } = await signedIn({ hwid: 'C02XL0GTJGH5' })
  const second = await start12(on, settings)
  expect(await second.call('login', { ...user, hwid: 'C02ZZ9ZZZZZ9' })).toMatchObject({ success: false })
})

test('an imported end user who types a space at first signs in with and without it from then on', async () => {
  const { app, login } = await imported(keyAuthUser('frodo'), keyAuthUser('sam'))
  for (const pass of [`${ring} `, ring, ` ${ring}\t`, ring])
    expect([pass, await login({ username: 'frodo', pass })]).toMatchObject([pass, { success: true }])
  expect(await login({ username: 'frodo', pass: `${ring} x` })).toMatchObject({ success: false })
  const program = await startProgram(on, app)
  const own = (password: string) => program.call('POST', '/login', { username: 'sam', password })
  expect((await own(`${ring} `)).status).toBe(200)
  expect((await own(ring)).status).toBe(200)
  expect(refusal(await own(`${ring} `))).toBe('passMismatch')
})

test('a sign-in by address finds those who registered with it, and imported ones by its hash', async () => {
  const { settings, user } = await signedIn({ email: 'Frodo@Shire.example' })
  const byAddress = async (email: string, pass = ring) =>
    (await start12(on, settings)).call('loginEmail', { email, pass, hwid })
  expect(await byAddress('frodo@shire.example')).toMatchObject({ info: { username: user.username } })
  const wrong = { success: false, message: 'Password does not match' }
  expect(await byAddress('frodo@shire.example', 'wrong')).toEqual(wrong)
  // A stranger does not learn whose address is known.
  for (const email of ['sauron@mordor.example', 'none', '']) expect(await byAddress(email)).toEqual(wrong)
  const sha1 = createHash('sha1').update('sam@shire.example').digest('hex')
  const { login } = await imported(keyAuthUser('sam', { email: sha1 }))
  expect(await login({ email: 'Sam@Shire.example' }, 'loginEmail')).toMatchObject({
    info: { username: 'sam' },
  })
})

test('registers an end user whose address is none, and refuses a short password in words', async () => {
  const { app } = await signedIn({ email: 'none' })
  expect((await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients[0].email).toBeNull()
  const { settings } = await makeOldApp(owner)
  const program = await start12(on, settings)
  expect(await program.call('register', { username: 'sam', pass: '12345', key: 'x' })).toEqual({
    success: false,
    message: 'Password must have at least 6 characters',
  })
})

test('variables of the app and of programs can have spaces in their names', async () => {
  const { app, program } = await signedIn()
  const variables = [{ name: 'my motd', value: 'Hello', public: true }]
  expect((await owner.call('PUT', `/apps/${app._id}/variables`, { variables })).status).toBe(200)
  expect(await program.call('var', { varid: 'my motd' })).toMatchObject({ success: true, message: 'Hello' })
  expect(await program.call('setvar', { var: 'my level', data: '7' })).toMatchObject({ success: true })
  expect(await program.call('getvar', { var: 'my level' })).toMatchObject({ response: '7' })
})

test('what a program wrote is in no signed variables, in no lease, and apart in the list of its end user', async () => {
  const { app, program, user } = await signedIn()
  const offline = { name: 'tier', value: 'free', public: false, offline: true }
  await owner.call('PUT', `/apps/${app._id}/variables`, { variables: [offline] })
  for (const name of ['tier', 'edition'])
    expect(await program.call('setvar', { var: name, data: 'enterprise' })).toMatchObject({ success: true })
  const own = await startProgram(on, app)
  const login = { username: user.username, password: user.pass, hwid }
  const signed = await own.call('POST', '/login', login)
  expect(signed.json.data.user.variables).toEqual({ tier: 'free' })
  expect((await own.call('GET', '/session')).json.data.user.variables).toEqual({ tier: 'free' })
  const leased = await own.call('POST', '/lease', { hwid })
  const [, claims = ''] = leased.json.data.lease.split('.')
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).variables).toEqual({ tier: 'free' })
  expect(await program.call('var', { varid: 'edition' })).toMatchObject({ success: false })
  const path = `/clients/${signed.json.data.user._id}/variables`
  const { variables } = (await owner.call('GET', path)).json.data
  expect(variables).toEqual(['tier', 'edition'].map((name) => ({ name, value: 'enterprise', program: true })))
  // The vendor can make it theirs.
  await owner.call('PUT', path, { variables: [{ name: 'edition', value: 'enterprise', program: false }] })
  expect((await own.call('GET', '/session')).json.data.user.variables).toEqual({
    ...{ tier: 'free', edition: 'enterprise' },
  })
})

test('a name that programs have used leads to no other vendor when it is free again', async () => {
  const { app, settings, program } = await signedIn()
  await program.call('check')
  await owner.call('GET', `/apps/${app._id}/compatibility`)
  const { name, ownerId } = settings
  await turnOn(owner, app, { name: 'Renamed' })
  const stranger = await signUp(on)
  const claim = { enabled: true, name, ownerId }
  const path = `/apps/${(await makeApp(stranger))._id}/compatibility`
  expect(refusal(await stranger.call('PUT', path, claim))).toBe('compatibility_taken')
  await owner.call('DELETE', `/apps/${app._id}`)
  expect(refusal(await stranger.call('PUT', path, claim))).toBe('compatibility_taken')
  await turnOn(owner, await makeApp(owner, 'Again'), { name, ownerId })
  // One that no program has used is free.
  const { app: unused, settings: free } = await makeOldApp(owner)
  await owner.call('DELETE', `/apps/${unused._id}`)
  const taken = { enabled: true, name: free.name, ownerId: free.ownerId }
  expect((await stranger.call('PUT', path, taken)).status).toBe(200)
})
