// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import {
  activateKey,
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

const setApp = (...variables: object[]) => owner.call('PUT', `/apps/${app._id}/variables`, { variables })
const setUser = (id: string, ...variables: object[]) =>
  owner.call('PUT', `/clients/${id}/variables`, { variables })
const init = async (more: object = {}) =>
  on.call('POST', '/client/init', {
    body: { appId: app.appId, secret: app.appSecret, version: '1.0.0', ...more },
  })
const endpoint = { name: 'endpoint', value: 'https://api.example.com', public: true }
const token = { name: 'token', value: 'for users only', public: false }

test('init sends the public variables, a sign-in and the session the others', async () => {
  await setApp(endpoint, token)
  expect((await init()).json.data.variables).toEqual({ endpoint: endpoint.value })
  const { program, user } = await registerUser(on, owner, app)
  const seen = async () => (await program.call('GET', '/session')).json.data.user.variables
  expect(user).toMatchObject({ variables: { token: token.value } })
  expect(await seen()).toEqual({ token: token.value })
  await setUser(user._id, { name: 'quota', value: '5' }, { name: 'token', value: 'mine' })
  expect(await seen()).toEqual({ token: 'mine', quota: '5' })
  await setApp(endpoint)
  await setUser(user._id)
  expect(await seen()).toEqual({})
})

test('every sign-in returns the variables of the signed-in end user', async () => {
  await setApp(token)
  const { license, user } = await activateKey(on, owner, app)
  await setUser(user._id, { name: 'quota', value: '5' })
  const program = await startProgram(on, app)
  const answer = await program.call('POST', '/license', { licenseKey: license.key })
  expect(answer.json.data.user.variables).toEqual({ token: token.value, quota: '5' })
})

test('sends no private variable before a sign-in, or after a ban', async () => {
  await setApp(endpoint, token)
  const program = await startProgram(on, app)
  for (const answer of [
    await init(),
    await program.call('GET', '/session'),
    await program.call('POST', '/login', { username: 'alice', password: 'wrong1' }),
    await on.call('GET', `/client/apps/${app.appId}/keys`),
  ]) {
    expect(answer.raw.toString()).not.toContain(token.value)
  }
  const { program: signedIn, user } = await registerUser(on, owner, app)
  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
  const refused = await signedIn.call('GET', '/session')
  expect(refusal(refused)).toBe('userBanned')
  expect(refused.raw.toString()).not.toContain(token.value)
})

test('an upgrade returns variables to the signed-in end user alone', async () => {
  const { program, user } = await registerUser(on, owner, app)
  await setApp(token)
  await setUser(user._id, { name: 'quota', value: '5' })
  const [one, two] = await makeLicenses(on, owner, app, 2)
  const upgrade = async (by: typeof program, licenseKey: string) =>
    (await by.call('POST', '/upgrade', { username: 'alice', licenseKey })).json.data.user.variables
  expect(await upgrade(await startProgram(on, app), one!.key)).toEqual({})
  expect(await upgrade(program, two!.key)).toEqual({ token: token.value, quota: '5' })
})

test('sends the features of the license', async () => {
  const { program, license } = await registerUser(on, owner, app)
  const seen = async () => (await program.call('GET', '/session')).json.data.user.features
  expect(await seen()).toEqual([])
  await on.database.db
    .updateTable('licenses')
    .set({ features: '["pro","export"]' })
    .where('id', '=', license._id)
    .execute()
  expect(await seen()).toEqual(['pro', 'export'])
  const added = single(await makeLicenses(on, owner, app))
  const upgraded = await program.call('POST', '/upgrade', { username: 'alice', licenseKey: added.key })
  expect(upgraded.json.data.user.features).toEqual(['pro', 'export'])
})

test('remembers each SDK that programs name once, and at most 50 of an app', async () => {
  const sdks = () => on.database.db.selectFrom('app_sdks').selectAll().where('app_id', '=', app._id).execute()
  for (const sdk of ['keyward-js/1.1.0', 'keyward-js/1.1.0', 'keyward-py/2.0.0']) await init({ sdk })
  await expect.poll(async () => (await sdks()).length).toBe(2)
  const { json } = await owner.call('GET', `/apps/${app._id}/stats`)
  expect(json.data.sdks).toEqual(['keyward-js/1.1.0', 'keyward-py/2.0.0'])
  for (let at = 0; at < 60; at += 1) await init({ sdk: `keyward-js/9.9.${at}` })
  await expect.poll(async () => (await sdks()).length).toBe(50)
  expect(wrongFields(await init({ sdk: 'no version' }))).toEqual(['sdk'])
  expect(wrongFields(await init({ sdk: `a/${'1'.repeat(70)}` }))).toContain('sdk')
})

test('remembers when programs name no SDK', async () => {
  const readAt = async () =>
    (
      await on.database.db
        .selectFrom('apps')
        .select('sdkless_init_at')
        .where('id', '=', app._id)
        .executeTakeFirstOrThrow()
    ).sdkless_init_at
  await init({ sdk: 'keyward-js/1.1.0' })
  expect(await readAt()).toBeNull()
  await init()
  await expect.poll(readAt).toBe(on.clock.now())
})
