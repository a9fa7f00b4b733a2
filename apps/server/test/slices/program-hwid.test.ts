// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { beforeEach, describe, expect, test } from 'vitest'
import { activateKey, makeLicenses, refusal, registerUser, single, startProgram } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const bound = 'PC-7F3A-0042'
const foreign = {
  absent: undefined,
  empty: '',
  'a space': ' ',
  'a prefix': bound.slice(0, -1),
  'a suffix': bound.slice(1),
  'a longer one': `${bound}0`,
  'one in lower case': bound.toLowerCase(),
  'a wildcard': '%',
  'the stored hash': '0'.repeat(64),
}

type SignIn = (hwid?: string) => Promise<Answer>
const ways: [string, () => Promise<SignIn>][] = [
  [
    'license',
    async () => {
      const { license } = await activateKey(on, owner, app, bound)
      const program = await startProgram(on, app)
      return (hwid) => program.call('POST', '/license', { licenseKey: license.key, hwid })
    },
  ],
  [
    'login',
    async () => {
      await registerUser(on, owner, app)
      const program = await startProgram(on, app)
      const signIn: SignIn = (hwid) =>
        program.call('POST', '/login', { username: 'alice', password: 'swordfish', hwid })
      await signIn(bound)
      return signIn
    },
  ],
]

describe.each(ways)('a lock bound by %s', (_way, prepare) => {
  test('accepts only the exact id and keeps it', async () => {
    const signIn = await prepare()
    for (const [what, hwid] of Object.entries(foreign)) {
      expect({ what, code: refusal(await signIn(hwid)) }).toEqual({ what, code: 'hwidMismatch' })
    }
    expect((await signIn(bound)).status).toBe(200)
    const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
    expect(clients[0].hwid).toBe(bound)
  })
})

test('validate accepts only the exact bound id', async () => {
  const { license } = await activateKey(on, owner, app, bound)
  const validate = async (hwid?: string) =>
    (await on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: license.key, hwid } }))
      .json.data
  for (const hwid of Object.values(foreign)) {
    expect(await validate(hwid)).toMatchObject({ valid: false, code: 'hwidMismatch' })
  }
  expect(await validate(bound)).toMatchObject({ valid: true })
})

test('binds at the first sign-in that sends an id', async () => {
  const { license, program } = await activateKey(on, owner, app)
  const signIn = (hwid?: string) => program.call('POST', '/license', { licenseKey: license.key, hwid })
  expect((await signIn('')).json.data.user.hwidBound).toBe(false)
  expect((await signIn()).json.data.user.hwidBound).toBe(false)
  expect((await signIn('first')).json.data.user.hwidBound).toBe(true)
  expect(refusal(await signIn('second'))).toBe('hwidMismatch')
  expect(refusal(await signIn())).toBe('hwidMismatch')
})

test('rejects a session without an id as soon as another session binds the lock', async () => {
  const { license, program: unlocked } = await activateKey(on, owner, app)
  const other = await startProgram(on, app)
  await other.call('POST', '/license', { licenseKey: license.key, hwid: bound })
  expect((await other.call('GET', '/session')).status).toBe(200)
  expect(refusal(await unlocked.call('GET', '/session'))).toBe('hwidMismatch')
})

test('a session keeps its id: after a reset, binding another computer rejects the first', async () => {
  const { license, user, program } = await activateKey(on, owner, app, bound)
  await owner.call('PATCH', `/clients/${user._id}/reset-hwid`)
  expect((await program.call('GET', '/session')).status).toBe(200)
  const other = await startProgram(on, app)
  await other.call('POST', '/license', { licenseKey: license.key, hwid: 'PC-2' })
  expect(refusal(await program.call('GET', '/session'))).toBe('hwidMismatch')
})

test('a rejected sign-in binds no id', async () => {
  const { program, user } = await registerUser(on, owner, app)
  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
  const login = (password: string) =>
    program.call('POST', '/login', { username: 'alice', password, hwid: bound })
  expect(refusal(await login('swordfish'))).toBe('userBanned')
  expect(refusal(await login('wrong'))).toBe('passMismatch')
  expect((await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients[0].hwid).toBe(null)
})

test('compares ids in full length, including Unicode', async () => {
  const long = `${'ü'.repeat(255)}1`
  const { license, program } = await activateKey(on, owner, app, long)
  const signIn = (hwid: string) => program.call('POST', '/license', { licenseKey: license.key, hwid })
  expect(refusal(await signIn(`${'ü'.repeat(255)}2`))).toBe('hwidMismatch')
  expect((await signIn(long)).status).toBe(200)
  expect((await signIn('x'.repeat(257))).status).toBe(400)
})

describe('an app that requires a hardware id', () => {
  beforeEach(async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { requireHwid: true, hwidLock: false } })
  })

  test('refuses every sign-in without one and leaves the key unused', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const program = await startProgram(on, app)
    const newUser = { username: 'alice', password: 'swordfish', licenseKey: license.key }
    for (const hwid of [undefined, '']) {
      expect(refusal(await program.call('POST', '/license', { licenseKey: license.key, hwid }))).toBe(
        'hwidMismatch',
      )
      expect(refusal(await program.call('POST', '/register', { ...newUser, hwid }))).toBe('hwidMismatch')
    }
    expect((await program.call('POST', '/register', { ...newUser, hwid: 'pc-1' })).status).toBe(200)
    const { username, password } = newUser
    expect(refusal(await program.call('POST', '/login', { username, password }))).toBe('hwidMismatch')
  })

  test('refuses running sessions and validate without one', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { requireHwid: false } })
    const { program, license } = await activateKey(on, owner, app)
    await owner.call('PUT', `/apps/${app._id}`, { settings: { requireHwid: true } })
    expect(refusal(await program.call('GET', '/session'))).toBe('hwidMismatch')
    const validate = async (hwid?: string) =>
      (
        await on.call('POST', '/client/validate', {
          body: { appId: app.appId, licenseKey: license.key, hwid },
        })
      ).json.data
    expect(await validate()).toMatchObject({ valid: false, code: 'hwidMismatch' })
    expect(await validate('pc-1')).toMatchObject({ valid: true })
  })
})
