// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { makeLicenses, refusal, registerUser, single, startProgram, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

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

test('accepts honest names that look alike, and one of four concurrent names that differ by case', async () => {
  for (const username of ['user1', 'userl', 'modern', 'modem', 'Вася_pro'])
    expect((await create(username)).status).toBe(201)
  expect(refusal(await create('USER1'))).toBe('username_taken')
  const answers = await Promise.all(['admin', 'Admin', 'ＡＤＭＩＮ', 'ADMIN'].map((name) => register(name)))
  expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
})

test('names of earlier versions keep working', async () => {
  const { user } = await registerUser(on, owner, app, 'temporary')
  await on.database.db
    .updateTable('clients')
    .set({ username: '♚ king  of adm1n', username_normalized: '♚ king  of adm1n' })
    .where('id', '=', user._id)
    .execute()
  const program = await startProgram(on, app)
  const login = { username: '♚ KING  of adm1n', password: 'swordfish' }
  expect((await program.call('POST', '/login', login)).status).toBe(200)
})
