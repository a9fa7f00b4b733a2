// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { beforeEach, expect, test } from 'vitest'
import { type Program, refusal, startProgram } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

interface Terms {
  devices?: number
  seats?: number | null
  features?: string[]
  term?: 'forever' | 'first_use'
}
let types = 0
const makeType = async (terms: Terms) => {
  types += 1
  const duration = terms.term === 'forever' ? undefined : { value: 30, unit: 'days' }
  const body = { name: `Type ${types}`, term: 'first_use', duration, ...terms }
  return (await owner.call('POST', `/apps/${app._id}/license-types`, body)).json.data.licenseType
}
const sell = async (terms: Terms) => {
  const type = await makeType(terms)
  const { license } = (await owner.call('POST', '/licenses', { app: app._id, type: type._id })).json.data
  return { type, license: license as { _id: string; key: string } }
}

const login = { username: 'ada', password: 'swordfish' }
async function signIn(hwid = 'pc-1') {
  const program = await startProgram(on, app)
  return { program, answer: await program.call('POST', '/login', { ...login, hwid }) }
}
/** Registers an end user with a first license. */
async function registered(terms: Terms) {
  const { license, type } = await sell(terms)
  const program = await startProgram(on, app)
  const answer = await program.call('POST', '/register', { ...login, licenseKey: license.key, hwid: 'pc-1' })
  expect(answer.status).toBe(200)
  return { license, type, program, user: answer.json.data.user as { _id: string } }
}
const upgrade = (program: Program, { key }: { key: string }) =>
  program.call('POST', '/upgrade', { username: login.username, licenseKey: key })
async function added(program: Program, terms: Terms) {
  const made = await sell(terms)
  const answer = await upgrade(program, made.license)
  expect(answer.status).toBe(200)
  return { ...made, user: answer.json.data.user }
}
/** What a program reads about its end user, which every call must say alike. */
async function seen(program: Program) {
  const { user } = (await program.call('GET', '/session')).json.data
  const { user: again } = (await signIn()).answer.json.data
  const { devices, features } = user
  expect([again.devices.limit, again.features]).toEqual([devices.limit, features])
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  const list = (await owner.call('GET', `/clients/${clients[0]._id}/devices`)).json.data
  expect(list.limit).toBe(devices.limit)
  return { features, devices: devices.limit as number, hasSeat: user.seat !== null }
}
const setBan = ({ _id }: { _id: string }, is_banned: boolean) =>
  owner.call('PATCH', `/licenses/${_id}/toggle-ban`, { is_banned })

let first: Awaited<ReturnType<typeof registered>>
beforeEach(async () => {
  first = await registered({ devices: 2, features: ['base'] })
})

test('gives the features of all keys and the largest number of devices, from the upgrade on', async () => {
  const { program } = first
  expect(await seen(program)).toEqual({ features: ['base'], devices: 2, hasSeat: false })
  const { user } = await added(program, { devices: 3, features: ['export', 'base'] })
  expect([user.features, user.devices]).toEqual([['base', 'export'], { used: 1, limit: 3 }])
  await added(program, { devices: 1, features: ['print'] })
  expect(await seen(program)).toEqual({ features: ['base', 'export', 'print'], devices: 3, hasSeat: false })
  for (const hwid of ['pc-2', 'pc-3']) expect((await signIn(hwid)).answer.status).toBe(200)
  expect(refusal((await signIn('pc-4')).answer)).toBe('hwidMismatch')
})

test('leases and validations know them too', async () => {
  const { program, license } = first
  await added(program, { devices: 3, features: ['export'] })
  const { lease } = (await program.call('POST', '/lease', { hwid: 'pc-1' })).json.data
  const claims = JSON.parse(Buffer.from(lease.split('.')[1], 'base64url').toString())
  expect(claims.features).toEqual(['base', 'export'])
  await signIn('pc-2')
  const body = { appId: app.appId, licenseKey: license.key, hwid: 'pc-3' }
  expect((await on.call('POST', '/client/validate', { body })).json.data.valid).toBe(true)
})

test('validate judges the end of the key itself, also after the access of its end user has ended', async () => {
  const { license } = await added(first.program, { features: ['export'] })
  const past = { expiresAt: '2001-01-01' }
  expect((await owner.call('PUT', `/licenses/${first.license._id}`, past)).status).toBe(200)
  expect(refusal((await signIn()).answer)).toBe('noActiveSubs')
  const program = await startProgram(on, app)
  const validate = async (licenseKey: string) =>
    (await program.call('POST', '/validate', { appId: app.appId, licenseKey, hwid: 'pc-1' })).json.data
  expect(await validate(license.key)).toMatchObject({
    valid: true,
    license: { expiresAt: on.clock.inDays(30) },
  })
  expect(await validate(first.license.key)).toMatchObject({ valid: false, code: 'noActiveSubs' })
})

test('deleting a key takes its part back; bound devices stay', async () => {
  const { program } = first
  const more = await added(program, { devices: 3, features: ['export'] })
  await added(program, { devices: 1, features: ['print'] })
  for (const hwid of ['pc-2', 'pc-3']) await signIn(hwid)
  await owner.call('DELETE', `/licenses/${more.license._id}`)
  expect(await seen(program)).toEqual({ features: ['base', 'print'], devices: 2, hasSeat: false })
  expect((await signIn('pc-3')).answer.json.data.user.devices).toEqual({ used: 3, limit: 2 })
  expect(refusal((await signIn('pc-4')).answer)).toBe('hwidMismatch')
})

test('banning a key takes its part back, and lifting the ban returns it', async () => {
  const { program } = first
  const more = await added(program, { devices: 3, features: ['export'] })
  await setBan(more.license, true)
  expect(await seen(program)).toEqual({ features: ['base'], devices: 2, hasSeat: false })
  await setBan(more.license, false)
  expect(await seen(program)).toEqual({ features: ['base', 'export'], devices: 3, hasSeat: false })
  const ids = [more.license._id]
  await owner.call('POST', '/licenses/bulk', { action: 'ban', ids })
  expect((await seen(program)).features).toEqual(['base'])
  await owner.call('POST', '/licenses/bulk', { action: 'unban', ids })
  expect((await seen(program)).features).toEqual(['base', 'export'])
  await owner.call('POST', '/licenses/bulk', { action: 'delete', ids })
  expect((await seen(program)).features).toEqual(['base'])
})

test('changes of a key and of its type reach the end user', async () => {
  const { program } = first
  const more = await added(program, { devices: 3, features: ['export'] })
  await owner.call('PUT', `/licenses/${more.license._id}`, { devices: 5, features: ['print'] })
  expect(await seen(program)).toEqual({ features: ['base', 'print'], devices: 5, hasSeat: false })
  await owner.call('PUT', `/license-types/${more.type._id}`, {
    devices: 4,
    features: ['scan'],
    applyTo: 'all',
  })
  expect(await seen(program)).toEqual({ features: ['base', 'scan'], devices: 4, hasSeat: false })
  await owner.call('PUT', `/licenses/${first.license._id}`, { devices: 7, features: [] })
  expect(await seen(program)).toEqual({ features: ['scan'], devices: 7, hasSeat: false })
})

test('a key with more seats than the devices makes the license floating', async () => {
  const { program } = first
  const more = await added(program, { seats: 3 })
  expect(await seen(program)).toMatchObject({ devices: -1, hasSeat: true })
  for (const hwid of ['pc-2', 'pc-3']) expect((await signIn(hwid)).answer.status).toBe(200)
  expect(refusal((await signIn('pc-4')).answer)).toBe('noSeats')
  await owner.call('DELETE', `/licenses/${more.license._id}`)
  expect(await seen(program)).toMatchObject({ devices: 2, hasSeat: false })
})

test('the last seat of an added key is taken once by concurrent sign-ins', async () => {
  await added(first.program, { seats: 3 })
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, at) => (await signIn(`pc-${at}`)).answer),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
})

test('an end user who never expires takes a key that gives more, and refuses one that gives nothing', async () => {
  await owner.call('PUT', `/licenses/${first.license._id}`, { expiresAt: null })
  const plain = await sell({ devices: 2, features: ['base'] })
  expect(refusal(await upgrade(first.program, plain.license))).toBe('never_expires')
  const more = await added(first.program, { features: ['export'] })
  expect(more.user.expiresAt).toBeNull()
  expect((await seen(first.program)).features).toEqual(['base', 'export'])
  await owner.call('DELETE', `/licenses/${more.license._id}`)
  expect((await seen(first.program)).features).toEqual(['base'])
  const { client } = (await owner.call('GET', `/clients/${first.user._id}`)).json.data
  expect(client.expiresAt).toBeNull()
})

test('a key that is refused gives nothing', async () => {
  const { license } = await sell({ devices: 9, features: ['export'] })
  await setBan(license, true)
  expect(refusal(await upgrade(first.program, license))).toBe('keyBanned')
  expect(await seen(first.program)).toEqual({ features: ['base'], devices: 2, hasSeat: false })
})
