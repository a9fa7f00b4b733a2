// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { makeLicenses, single } from '../actors.ts'
import { makeOldApp, send, start12 } from '../compatibility-actor.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll({ PUBLIC_URL: 'http://127.0.0.1:4000', SMTP_URL: 'smtp://127.0.0.1:9' })
const owner = premiumOwnerForAll(on)
const hwid = 'S-1-5-21-1004336348-1177238915-682003330-512'

/** An app with a registered end user whose program is signed in. */
async function signedIn(more: Record<string, string> = {}) {
  const { app, settings } = await makeOldApp(owner)
  const [first, second] = await makeLicenses(on, owner, app, 2)
  const program = await start12(on, settings)
  const user = { username: 'Frodo', pass: 'ring-bearer-1' }
  const registered = await program.call('register', { ...user, key: first?.key ?? '', hwid, ...more })
  expect(registered).toMatchObject({ success: true, info: { username: 'Frodo', hwid } })
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  const { _id } = single<{ _id: string }>(clients)
  return { app, settings, program, user, spare: second?.key ?? '', clientId: _id }
}

test('an end user registers, signs in again by any case, is refused like in our protocol, and adds a key', async () => {
  const { settings, user, spare } = await signedIn()
  const program = await start12(on, settings)
  const login = (fields: object = {}) => program.call('login', { ...user, hwid, ...fields })
  expect(await login({ pass: 'wrong' })).toEqual({ success: false, message: 'Password does not match' })
  expect(await login({ username: 'gandalf' })).toEqual({ success: false, message: 'Username not found' })
  expect(await login({ hwid: `${hwid}-another` })).toEqual({
    success: false,
    message: 'Hardware ID mismatch',
  })
  expect(await login({ username: 'FRODO', hwid: `${hwid}\r\n` })).toMatchObject({
    info: { username: 'Frodo' },
  })
  expect(await program.call('upgrade', { username: 'frodo', key: spare })).toEqual({
    ...{ success: true, message: 'Upgraded successfully', nonce: expect.any(String) },
  })
  expect(await program.call('upgrade', { username: 'frodo', key: spare })).toMatchObject({ success: false })
  expect(await program.call('upgrade', { username: 'all', key: spare })).toMatchObject({ success: false })
})

test('a ban, a pause and an end apply to the next check', async () => {
  const { app, program, clientId } = await signedIn()
  await owner.call('PATCH', `/clients/${clientId}/toggle-ban`, { is_banned: true, reason: 'chargeback' })
  expect(await program.call('check')).toEqual({ success: false, message: 'User account is banned' })
  await owner.call('PATCH', `/clients/${clientId}/toggle-ban`, { is_banned: false })
  expect(await program.call('check')).toMatchObject({ success: true })
  await owner.call('PUT', `/apps/${app._id}`, { paused: true })
  expect(await program.call('check')).toEqual({ success: false, message: 'Application is currently paused' })
})

test('a hardware id that programs send of a machine without one is never bound', async () => {
  const { app, settings } = await makeOldApp(owner)
  const { key } = single(await makeLicenses(on, owner, app))
  const program = await start12(on, settings)
  expect(await program.call('license', { key, hwid: 'none' })).toMatchObject({
    success: true,
    info: { hwid: '' },
  })
  expect(await program.call('license', { key, hwid })).toMatchObject({ success: true, info: { hwid } })
})

describe('variables', () => {
  test('of the app are in `message`, of signed-in users only after a sign-in', async () => {
    const { app, settings, program } = await signedIn()
    const variables = [
      { name: 'motd', value: 'Hello & welcome', public: true },
      { name: 'secret', value: 'mellon', public: false },
    ]
    await owner.call('PUT', `/apps/${app._id}/variables`, { variables })
    expect(await program.call('var', { varid: 'motd' })).toMatchObject({
      success: true,
      message: 'Hello & welcome',
    })
    expect(await program.call('var', { varid: 'secret' })).toMatchObject({ success: true, message: 'mellon' })
    const stranger = await start12(on, settings)
    expect(await stranger.call('var', { varid: 'secret' })).toMatchObject({ success: false })
    expect(await program.call('var', { varid: 'toString' })).toEqual({
      success: false,
      message: 'Variable not found.',
    })
  })

  test('of an end user are set by programs only where programs made them', async () => {
    const { program, clientId } = await signedIn()
    const path = `/clients/${clientId}/variables`
    await owner.call('PUT', path, { variables: [{ name: 'tier', value: 'gold' }] })
    expect(await program.call('setvar', { var: 'tier', data: 'platinum' })).toEqual({
      success: false,
      message: 'Variable is read only',
    })
    expect(await program.call('getvar', { var: 'tier' })).toMatchObject({ success: true, response: 'gold' })
    expect(await program.call('setvar', { var: 'level', data: '7' })).toMatchObject({ success: true })
    const { variables } = (await owner.call('GET', path)).json.data
    expect(variables).toEqual([
      { name: 'tier', value: 'gold' },
      { name: 'level', value: '7', program: true },
    ])
    // The vendor saves another variable, as an editor does that sends names and values.
    const saved = [
      { name: 'tier', value: 'silver' },
      { name: 'level', value: '7' },
    ]
    await owner.call('PUT', path, { variables: saved })
    expect(await program.call('setvar', { var: 'level', data: '8' })).toMatchObject({ success: true })
    await owner.call('PUT', path, { variables: [{ name: 'level', value: '9' }] })
    expect(await program.call('setvar', { var: 'level', data: '10' })).toMatchObject({ success: false })
  })

  test.each([
    [{}, 'No variable name provided'],
    [{ var: 'a' }, 'No variable data provided'],
    [{ var: 'a', data: 'x'.repeat(501) }, 'Variable data must be 500 characters or less'],
  ])('%j is refused', async (fields, message) => {
    const { program } = await signedIn()
    expect(await program.call('setvar', fields as Record<string, string>)).toEqual({
      success: false,
      message,
    })
    expect(await program.call('getvar', { var: 'a' })).toEqual({
      success: false,
      message: 'Variable not found for user',
    })
  })
})

test('a program bans its end user and the machine that it runs on, and no other machine', async () => {
  const { app, settings, program } = await signedIn()
  const blocks = async () => (await owner.call('GET', `/apps/${app._id}/blocklist`)).json.data.blocks
  expect(await program.call('ban', { reason: 'x'.repeat(100) })).toMatchObject({ success: false })
  const victim = 'S-1-5-21-9999999999-1177238915-682003330-999'
  const other = await start12(on, settings)
  expect(await other.call('ban')).toEqual({ success: false, message: 'Session is not authenticated' })
  expect(await program.call('checkblacklist', { hwid })).toMatchObject({ success: false })
  expect(await program.call('ban', { reason: 'debugger', hwid: victim })).toMatchObject({ success: true })
  expect(await blocks()).toEqual([])
  expect(await program.call('check')).toEqual({ success: false, message: 'User account is banned' })
})

test('a machine that was banned is on the block list, and a program learns it the wrong way round', async () => {
  const { settings, program } = await signedIn()
  expect(await program.call('ban', { hwid })).toMatchObject({
    success: true,
    message: 'Successfully Banned User',
  })
  const other = await start12(on, settings)
  expect(await other.call('checkblacklist', { hwid })).toMatchObject({
    success: true,
    message: 'Client is blacklisted',
  })
})

test('a message of a program is in the activity log, and its answer is empty and signed', async () => {
  const { app, settings, program } = await signedIn()
  const { name, ownerId: ownerid } = settings
  const sent = {
    type: 'log',
    sessionid: program.sessionid,
    name,
    ownerid,
    message: 'started',
    pcuser: 'PC-1',
  }
  const { payload, headers } = await send(on, sent)
  expect(payload).toBe('')
  expect(headers.signature).toMatch(/^[0-9a-f]{64}$/)
  await expect
    .poll(
      async () => (await owner.call('GET', `/activity?app=${app._id}&kind=program.logged`)).json.data.events,
    )
    .toMatchObject([{ kind: 'program.logged', subject: 'started', client: { username: 'Frodo' } }])
})

test('users who are online are shown by ten characters, and those who sign in by a key not at all', async () => {
  const { app, settings, program } = await signedIn()
  const { key } = (await makeLicenses(on, owner, app))[0] ?? { key: '' }
  const other = await start12(on, settings)
  expect(await other.call('fetchOnline')).toEqual({ success: false, message: 'Session is not authenticated' })
  await other.call('license', { key })
  const { users } = await program.call('fetchOnline')
  const names = users.map(({ credential }: { credential: string }) => credential).sort()
  expect(names).toEqual(['*'.repeat(key.length), 'Frodo'].sort())
  const { appinfo } = await program.call('fetchStats')
  expect(appinfo).toEqual({
    ...{ numUsers: '2', numOnlineUsers: '2', numKeys: '3', version: '1.0.0', customerPanelLink: '' },
  })
})

test('a name is changed once it is free, which ends the session', async () => {
  const { settings, program, user } = await signedIn()
  expect(await program.call('changeUsername', { newUsername: 'x' })).toMatchObject({ success: false })
  expect(await program.call('changeUsername', { newUsername: 'Samwise' })).toMatchObject({
    success: true,
    message: 'Successfully changed username, user logged out.',
  })
  expect(await program.call('check')).toMatchObject({
    message: expect.stringMatching(/^Session not found\./),
  })
  const again = await start12(on, settings)
  expect(await again.call('login', { ...user, username: 'samwise', hwid })).toMatchObject({ success: true })
})

test('a forgotten password is mailed only to the address that was registered, where the app has a page', async () => {
  const { app, settings, program } = await signedIn({ email: 'Frodo@Shire.example' })
  const forgot = (fields: Record<string, string>) => program.call('forgot', { username: 'frodo', ...fields })
  expect(await forgot({ username: 'nobody' })).toMatchObject({ message: 'No user found with that username!' })
  expect(await forgot({ email: 'sauron@mordor.example' })).toMatchObject({
    message: "Email address doesn't match!",
  })
  const email = 'frodo@shire.example'
  expect(await forgot({ email })).toMatchObject({ success: false })
  await owner.call('PUT', `/apps/${app._id}`, { settings: { customerPage: true } })
  expect(await forgot({ email })).toMatchObject({
    success: true,
    message: 'Successfully sent email to change password.',
  })
  const again = await start12(on, settings)
  expect(again.opened.appinfo.customerPanelLink).toBe(`http://127.0.0.1:4000/u/${app.appId}`)
})
