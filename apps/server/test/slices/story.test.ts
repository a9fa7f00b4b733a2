import { expect, test } from 'vitest'
import { makeApp, makeLicenses, signUp, startProgram } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'

const on = serverForAll()

test('a key lets a program in, and a ban rejects its next request', async () => {
  const owner = await signUp(on)
  const app = await makeApp(owner)
  const [license] = await makeLicenses(on, owner, app, 3)
  const program = await startProgram(on, app)

  const activated = await program.call('POST', '/license', { licenseKey: license?.key, hwid: 'pc-1' })
  expect(activated.status).toBe(200)
  expect(activated.json.message).toBe('Successfully logged in')
  expect(activated.json.data.user.expiresAt).toBe(license?.expiresAt)
  expect((await program.call('GET', '/session')).status).toBe(200)

  const { json } = await owner.call('GET', `/clients?search=${license?.key.slice(6, 17)}`)
  expect(json.data.clients).toHaveLength(1)
  await owner.call('PATCH', `/clients/${json.data.clients[0]._id}/toggle-ban`)

  const refused = await program.call('GET', '/session')
  expect(refused.status).toBe(403)
  expect(refused.json).toMatchObject({ code: 'userBanned', message: 'User account is banned' })
})
