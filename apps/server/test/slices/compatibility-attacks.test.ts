import { messageDefaults } from '@keyward/contract'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { makeLicenses, signUp, single, startProgram } from '../actors.ts'
import { makeOldApp, send, start12 } from '../compatibility-actor.ts'
import { setLicense } from '../devices.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const hwid = 'S-1-5-21-1004336348-1177238915-682003330-512'

async function signedIn() {
  const { app, settings } = await makeOldApp(owner)
  const { key } = single(await makeLicenses(on, owner, app))
  const program = await start12(on, settings)
  await program.call('register', { username: 'Frodo', pass: 'ring-bearer-1', key, hwid })
  return { app, settings, program }
}

test('a session of an old protocol opens no call of our own, however its token is written', async () => {
  const { app, program } = await signedIn()
  for (const token of [program.sessionid, `compatibility:${program.sessionid}`]) {
    const answer = await on.server.inject({
      url: '/api/client/session',
      headers: { authorization: `Bearer ${token}`, 'keyward-app': app.appId },
    })
    expect(answer.json()).toMatchObject({ success: false, code: 'sessionUnauthed' })
  }
})

test('a variable that a program made replaces none of the app', async () => {
  const { app, program } = await signedIn()
  const variables = [
    { name: 'tier', value: 'free', public: false },
    { name: 'motd', value: 'Welcome', public: true },
  ]
  await owner.call('PUT', `/apps/${app._id}/variables`, { variables })
  for (const { name } of variables)
    expect(await program.call('setvar', { var: name, data: 'mine' })).toMatchObject({ success: true })
  expect(await program.call('var', { varid: 'tier' })).toMatchObject({ message: 'free' })
  expect(await program.call('var', { varid: 'motd' })).toMatchObject({ message: 'Welcome' })
  expect(await program.call('getvar', { var: 'tier' })).toMatchObject({ response: 'mine' })
  const ours = await startProgram(on, app)
  const { json } = await ours.call('POST', '/login', { username: 'Frodo', password: 'ring-bearer-1', hwid })
  expect(json.data.user.variables).toEqual({ tier: 'free' })
})

test('an end user who signs in by a key cannot take the name of another one', async () => {
  const { app, settings } = await signedIn()
  const { key } = single(await makeLicenses(on, owner, app))
  const program = await start12(on, settings)
  await program.call('license', { key })
  expect(await program.call('changeUsername', { newUsername: 'FRODO' })).toMatchObject({
    success: false,
  })
  expect(await program.call('changeUsername', { newUsername: 'Samwise' })).toMatchObject({ success: true })
})

test('characters that a database cannot store find no app and no end user', async () => {
  const { app, settings, program } = await signedIn()
  const { name, ownerId: ownerid } = settings
  const init = { type: 'init', enckey: 'abc', name, ownerid }
  for (const fields of [
    { ...init, name: `${name}\0x` },
    { ...init, ownerid: '\0\0\0\0a\0\0\0\0\0' },
  ])
    expect((await send(on, fields)).payload).not.toMatch(/server|internal/i)
  const unknown = await send(on, init, { path: `/api/apps/${app.appId}%00/1.2/` })
  expect(unknown.payload).toBe('KeyAuth_Invalid')
  expect(await program.call('forgot', { username: 'gol\0lum' })).toMatchObject({
    message: 'No user found with that username!',
  })
})

test('a build that is refused is kept in part, however long its hash', async () => {
  const { app, settings } = await makeOldApp(owner)
  await owner.call('PUT', `/apps/${app._id}`, { settings: { checkHash: true } })
  const hashes = [{ version: '1.0.0', hash: 'a'.repeat(32) }]
  await owner.call('PUT', `/apps/${app._id}/program-hashes`, { hashes })
  const { name, ownerId: ownerid } = settings
  const init = { type: 'init', ver: '1.0.0', enckey: 'abc', name, ownerid }
  expect((await send(on, { ...init, hash: 'b'.repeat(15_000) })).json).toMatchObject({ success: false })
  const refused = async () =>
    (await owner.call('GET', `/activity?app=${app._id}&code=hashCheckFail`)).json.data.events
  await expect.poll(refused).toHaveLength(1)
  const { rows } = await sql<{
    detail: string
  }>`select detail from activity where code = 'hashCheckFail'`.execute(on.database.db)
  expect(rows[0]?.detail.length).toBeLessThan(1000)
})

test('no text of the app reaches a program with characters that a shell reads', async () => {
  const { app, settings } = await makeOldApp(owner)
  await owner.call('PUT', `/apps/${app._id}/error-messages`, { loggedInMsg: 'Hi" & calc.exe | x' })
  const { key } = single(await makeLicenses(on, owner, app))
  const { message } = await (await start12(on, settings)).call('license', { key })
  expect(message).toBe('Hi    calc.exe   x')
})

test('a version of two numbers is the listed one of three, whose hash and updates are checked', async () => {
  const { app, settings } = await makeOldApp(owner)
  await owner.call('PUT', `/apps/${app._id}`, { settings: { checkHash: true } })
  const hashes = [{ version: '1.0.0', hash: 'a'.repeat(32) }]
  await owner.call('PUT', `/apps/${app._id}/program-hashes`, { hashes })
  const { name, ownerId: ownerid } = settings
  const enckey = '1f3c9a60-7b2d-4e'
  const init = { type: 'init', ver: '1.0', hash: 'A'.repeat(32), enckey, name, ownerid }
  const opened = (await send(on, init)).json
  expect(opened).toMatchObject({ success: true })
  const old = (await send(on, { ...init, ver: '0.9', hash: 'b'.repeat(32) })).json
  expect(old).toMatchObject({ success: false, message: 'invalidver' })
  await owner.call('POST', `/apps/${app._id}/releases`, { version: '1.0.0', releasedAt: on.clock.inDays(11) })
  const { _id, key } = single(await makeLicenses(on, owner, app))
  await on.database.db.updateTable('licenses').set({ updates_for_days: 10 }).where('id', '=', _id).execute()
  const { json } = await send(on, { type: 'license', key, sessionid: opened.sessionid, name, ownerid })
  expect(json).toMatchObject({ success: false, message: messageDefaults.updatesEnded })
})

test('a program without a seat reads no variables', async () => {
  const { app, settings } = await makeOldApp(owner)
  const { _id, key } = single(await makeLicenses(on, owner, app))
  await setLicense(on, { _id }, { seats: 1, seat_timeout_seconds: 600 })
  const variables = [{ name: 'tier', value: 'gold', public: false }]
  await owner.call('PUT', `/apps/${app._id}/variables`, { variables })
  const [first, second] = [await start12(on, settings), await start12(on, settings)]
  expect(await first.call('license', { key })).toMatchObject({ success: true })
  expect(await first.call('var', { varid: 'tier' })).toMatchObject({ message: 'gold' })
  on.clock.advance(601_000)
  expect(await second.call('license', { key })).toMatchObject({ success: true })
  const refused = { success: false, message: messageDefaults.noSeats }
  expect(await first.call('var', { varid: 'tier' })).toEqual(refused)
  expect(await first.call('getvar', { var: 'tier' })).toEqual(refused)
  expect(await second.call('var', { varid: 'tier' })).toMatchObject({ message: 'gold' })
})

test('no request of a stranger ends the server while the database does not answer', async () => {
  const failing = await startServer()
  const { settings } = await makeOldApp(await signUp(failing))
  const ended: unknown[] = []
  const note = (reason: unknown) => ended.push(reason)
  process.on('unhandledRejection', note)
  await failing.database.db.destroy()
  const check = { type: 'check', sessionid: 'ab'.repeat(60), name: settings.name }
  for (const path of ['/api/apps/a-b/1.2/', '/api/apps/A1B2C3D4/1.2/', '/api/1.2/', '/api/1.3', '/api/1.0/'])
    for (const fields of [check, { ...check, ownerid: settings.ownerId }])
      expect((await send(failing, fields, { path })).payload).toMatch(/KeyAuth_Invalid|"success":false/)
  // Rejections are noticed when the promises of a turn have settled.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(ended).toEqual([])
  await failing.close()
})
