import { expect, test } from 'vitest'
import { activateKey, makeLicenses, registerUser, single, startProgram } from '../actors.ts'
import { setLicense } from '../devices.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { rounds } from '../rounds.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const validate = async (license: { key: string }, hwid?: string, activate?: boolean) => {
  const body = { appId: app.appId, licenseKey: license.key, hwid, activate }
  const answer = await on.call('POST', '/client/validate', { body })
  expect(answer.status).toBe(200)
  return answer.json.data
}
const requireActivation = () =>
  owner.call('PUT', `/apps/${app._id}`, { settings: { requireActivation: true } })
const unused = async () => single(await makeLicenses(on, owner, app))
const endUsers = async () => (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients

test('without activation a key stays unused on any number of machines, and the answer says so', async () => {
  const license = await unused()
  for (const hwid of ['pc-1', 'pc-2', undefined]) {
    expect(await validate(license, hwid)).toMatchObject({
      valid: true,
      activated: false,
      license: { used: false },
    })
  }
  expect(await endUsers()).toEqual([])
})

test('with activation the first machine binds, and a second one is refused', async () => {
  const license = await unused()
  const first = await validate(license, 'pc-1', true)
  expect(first).toMatchObject({
    valid: true,
    activated: true,
    license: { used: true, username: license.key },
  })
  expect(await validate(license, 'pc-1')).toEqual(first)
  expect(await validate(license, 'pc-1', true)).toEqual(first)
  for (const activate of [true, false]) {
    expect(await validate(license, 'pc-2', activate)).toMatchObject({
      valid: false,
      activated: false,
      code: 'hwidMismatch',
      details: { devices: { used: 1, limit: 1 } },
    })
  }
  expect(await endUsers()).toMatchObject([{ username: license.key, hwid: 'pc-1', lastLoginAt: null }])
  const program = await startProgram(on, app)
  const signIn = await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
  expect(signIn.status).toBe(200)
})

test('takes one place for each machine', async () => {
  const license = await unused()
  await setLicense(on, license, { devices: 2 })
  for (const hwid of ['pc-1', 'pc-2', 'pc-1']) {
    expect(await validate(license, hwid, true)).toMatchObject({ valid: true, activated: true })
  }
  expect(await validate(license, 'pc-3', true)).toMatchObject({ valid: false, code: 'hwidMismatch' })
})

test('activates nothing without a hardware id, and nothing that is refused', async () => {
  const license = await unused()
  expect(await validate(license, undefined, true)).toMatchObject({ valid: true, activated: false })
  await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
  expect(await validate(license, 'pc-1', true)).toMatchObject({ code: 'keyBanned', activated: false })
  expect(await endUsers()).toEqual([])
})

test('adds no machine to an end user with a password', async () => {
  const { license, program } = await registerUser(on, owner, app)
  expect(await validate(license, 'pc-1', true)).toMatchObject({
    valid: false,
    code: 'keyUsed',
    activated: false,
  })
  expect((await endUsers())[0].hwid).toBe(null)
  await program.call('POST', '/login', { username: 'alice', password: 'swordfish', hwid: 'pc-1' })
  expect(await validate(license, 'pc-1', true)).toMatchObject({ valid: true, activated: true })
})

test('an app that requires activation accepts bound machines only', async () => {
  await requireActivation()
  const license = await unused()
  for (const hwid of ['pc-1', '', undefined]) {
    expect(await validate(license, hwid)).toMatchObject({
      valid: false,
      code: 'notActivated',
      activated: false,
    })
  }
  expect(await validate(license, undefined, true)).toMatchObject({ valid: false, code: 'notActivated' })
  expect(await validate(license, 'pc-1', true)).toMatchObject({ valid: true, activated: true })
  expect(await validate(license, 'pc-1')).toMatchObject({ valid: true, activated: true })
  expect(await validate(license, 'pc-2')).toMatchObject({ valid: false, code: 'hwidMismatch' })
  const other = await activateKey(on, owner, app)
  expect((await other.program.call('GET', '/session')).status).toBe(200)
  expect(await validate(other.license, 'pc-1')).toMatchObject({ code: 'notActivated' })
})

const size = rounds(12, 32)

test(`of ${size} concurrent machines exactly one activates a key`, async () => {
  for (let round = 0; round < rounds(1, 50); round++) {
    const license = await unused()
    const verdicts = await Promise.all(
      Array.from({ length: size }, (_, at) => validate(license, `pc-${at}`, true)),
    )
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(1)
    expect(verdicts.filter(({ code }) => code === 'hwidMismatch')).toHaveLength(size - 1)
  }
})
