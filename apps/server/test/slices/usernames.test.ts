// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { makeApp, makeLicenses, refusal, registerUser, single, startProgram, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const create = (username: string, appId = app._id) =>
  owner.call('POST', '/clients/create-direct', {
    username,
    password: 'swordfish',
    appId,
    expiresAt: on.clock.inDays(30),
  })
const register = async (username: string) => {
  const license = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)
  return program.call('POST', '/register', { username, password: 'swordfish', licenseKey: license.key })
}

test.each(['foo  bar', 'ad\u200bmin', '♚♚♚', '\u202enimda', 'ﬁeld', 'adminמ'])(
  'rejects %j as the name of a new end user',
  async (username) => {
    expect(wrongFields(await create(username))).toEqual(['username'])
    expect(wrongFields(await register(username))).toEqual(['username'])
  },
)

test('stores wide letters as plain ones and keeps case', async () => {
  expect((await create('Ａｄａ Lovelace')).json.data.client.username).toBe('Ada Lovelace')
  const program = await startProgram(on, app)
  const login = { username: 'ada LOVELACE', password: 'swordfish' }
  expect((await program.call('POST', '/login', login)).status).toBe(200)
})

test('rejects a name that looks like another one of the app, in another app it is accepted', async () => {
  await create('paypal')
  for (const username of ['PayPaI', 'paypa1', 'раураl', 'Pаypal']) {
    expect(refusal(await create(username))).toBe('username_taken')
    expect(refusal(await register(username))).toBe('usernameTaken')
  }
  expect((await create('paypa1', (await makeApp(owner, 'Other'))._id)).status).toBe(201)
})

test('creates one of four concurrent names that look alike', async () => {
  const answers = await Promise.all(['admin', 'аdmin', 'adrnin', 'ADMIN'].map((name) => register(name)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
})

test('a key as a name is never rejected for its looks', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  await create('MODEM-X')
  for (const key of ['MODERN-X', 'M0DEMX-2', 'MODEM-X-2']) {
    await owner.call('POST', '/licenses', { app: app._id, key, expiresAt: on.clock.inDays(30) })
    const program = await startProgram(on, app)
    expect((await program.call('POST', '/license', { licenseKey: key })).status).toBe(200)
  }
})

test('names of earlier versions keep working, and no new name may look like them', async () => {
  const { user } = await registerUser(on, owner, app, 'temporary')
  const rename = (id: string, username: string) =>
    on.database.db
      .updateTable('clients')
      .set({ username, username_normalized: username.toLowerCase(), name_skeleton: null })
      .where('id', '=', id)
      .execute()
  await rename(user._id, '♚ king  of adm1n')
  const twin = (await registerUser(on, owner, app, 'another')).user
  await rename(twin._id, '♚ king  of admln')
  await tidyUp(on)
  const skeletons = await on.database.db
    .selectFrom('clients')
    .select('name_skeleton')
    .where('app_id', '=', app._id)
    .orderBy('seq')
    .execute()
  expect(skeletons.map((row) => row.name_skeleton)).toEqual([expect.stringMatching(/king/), ''])
  for (const username of ['♚ KING  of adm1n', '♚ king  of admln']) {
    const program = await startProgram(on, app)
    const answer = await program.call('POST', '/login', { username, password: 'swordfish' })
    expect(answer.status).toBe(200)
  }
})
