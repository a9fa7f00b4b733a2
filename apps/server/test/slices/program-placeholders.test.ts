// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import {
  activateKey,
  hashed,
  makeLicenses,
  makeType,
  refusal,
  registerUser,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeRequest } from '../offline-machine.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const validate = async (licenseKey: string, hwid?: string, more: object = {}) =>
  (await on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey, hwid, ...more } })).json
    .data
const newKey = async () => single(await makeLicenses(on, owner, app)).key as string
const onlyClient = async () =>
  single<{ _id: string; hwid: string | null }>(
    (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients,
  )
const withKey = async (licenseKey: string, hwid: string) =>
  (await startProgram(on, app)).call('POST', '/license', { licenseKey, hwid })

/** Binds an end user by an id, as earlier versions did: by the hash of all that was sent. */
async function bindAsBefore(hwid: string) {
  const { license, user, program } = await activateKey(on, owner, app, 'pc-1')
  const { db } = on.database
  const hash = { hwid_hash: hashed(hwid) }
  await db
    .updateTable('devices')
    .set({ hwid, ...hash })
    .where('client_id', '=', user._id)
    .execute()
  await db
    .updateTable('clients')
    .set({ hwid, ...hash })
    .where('id', '=', user._id)
    .execute()
  await db.updateTable('client_sessions').set(hash).where('client_id', '=', user._id).execute()
  return { key: license.key as string, user, program }
}

const placeholders = [
  'To be filled by O.E.M.',
  'DEFAULT STRING',
  ' None\n',
  '0',
  '   ',
  '00000000-0000-0000-0000-000000000000',
]

describe.each(placeholders)('the placeholder %j', (hwid) => {
  test('binds nothing, neither at the first use nor later', async () => {
    const key = await newKey()
    expect((await withKey(key, hwid)).json.data.user).toMatchObject({ hwidBound: false })
    expect((await withKey(key, hwid)).json.data.user).toMatchObject({ hwidBound: false })
    expect(await validate(key, hwid, { activate: true })).toMatchObject({ valid: true, activated: false })
    expect(await onlyClient()).toMatchObject({ hwid: null })
    expect((await withKey(key, 'pc-1')).json.data.user).toMatchObject({ hwidBound: true })
    expect(refusal(await withKey(key, hwid))).toBe('hwidMismatch')
    expect(await validate(key, hwid)).toMatchObject({ valid: false, code: 'hwidMismatch' })
  })

  test('counts as none where an id is required', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { requireHwid: true, hwidLock: false } })
    const key = await newKey()
    expect(refusal(await withKey(key, hwid))).toBe('hwidMismatch')
    expect(await validate(key, hwid)).toMatchObject({ valid: false, code: 'hwidMismatch' })
  })

  test('starts no trial', async () => {
    await makeType(owner, app, { trial: true })
    const program = await startProgram(on, app)
    expect(refusal(await program.call('POST', '/trial', { hwid }))).toBe('hwidMismatch')
    expect((await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients).toEqual([])
  })

  test('that was bound before keeps working for its own end user alone', async () => {
    const { key, program } = await bindAsBefore(hwid)
    expect((await program.call('GET', '/session')).status).toBe(200)
    expect((await program.call('POST', '/lease', { hwid })).status).toBe(200)
    expect((await withKey(key, hwid)).json.data.user).toMatchObject({ hwidBound: true })
    expect(await validate(key, hwid)).toMatchObject({ valid: true, activated: true })
    expect(refusal(await withKey(key, 'pc-2'))).toBe('hwidMismatch')
    const another = await newKey()
    expect((await withKey(another, hwid)).json.data.user).toMatchObject({ hwidBound: false })
  })
})

test('a placeholder blocks nobody: it is no entry, a ban adds none, and stored ones are skipped', async () => {
  const hwid = 'Default string'
  const { key, user, program } = await bindAsBefore(hwid)
  const path = `/apps/${app._id}/blocklist`
  expect(wrongFields(await owner.call('POST', path, { kind: 'hwid', value: 'default STRING ' }))).toEqual([
    'value',
  ])
  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: true, blockDevices: true })
  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: false })
  const { blocks } = (await owner.call('GET', path)).json.data
  expect(blocks.map(({ kind }: { kind: string }) => kind)).toEqual(['address'])
  const entry = { kind: 'hwid' as const, value: hwid, value_key: hashed(hwid), marks: '[]', reason: null }
  const { db } = on.database
  const from = db.selectFrom('apps').where('id', '=', app._id)
  const { owner_id } = await from.select('owner_id').executeTakeFirstOrThrow()
  const row = { id: `blk_${app._id}`, owner_id, app_id: app._id, created_at: 0, ...entry }
  await db.insertInto('blocklist').values(row).execute()
  await owner.call('DELETE', `/blocklist/${blocks[0]._id}`)
  expect((await program.call('GET', '/session')).status).toBe(200)
  expect(await validate(key, hwid)).toMatchObject({ valid: true })
})

test('an end user that the vendor creates, and a machine that is never online, are bound to no placeholder', async () => {
  const body = { appId: app._id, username: 'alice', password: 'swordfish', hwid: 'None', expiresAt: null }
  expect((await owner.call('POST', '/clients/create-direct', body)).json.data.client.hwid).toBe(null)
  const request = makeRequest(app, { licenseKey: await newKey(), hwid: 'System Serial Number' })
  const activated = await owner.call('POST', `/apps/${app._id}/offline-activations`, { request })
  expect(activated.json.code).toBe('offline_refused')
  expect(activated.json.details).toMatchObject({ reason: 'hwidMismatch' })
})

test('a running trial on a placeholder goes on, and says that it has ended after its end', async () => {
  await makeType(owner, app, { trial: true, duration: { value: 3, unit: 'hours' } })
  const program = await startProgram(on, app)
  const { _id } = (await program.call('POST', '/trial', { hwid: 'pc-1' })).json.data.user
  const { db } = on.database
  const hash = { hwid: 'None', hwid_hash: hashed('None') }
  await db.updateTable('devices').set(hash).where('client_id', '=', _id).execute()
  await db
    .updateTable('trial_marks')
    .set({ mark: `hwid:${hashed('None')}` })
    .where('client_id', '=', _id)
    .execute()
  const again = await startProgram(on, app)
  expect((await again.call('POST', '/trial', { hwid: 'None' })).json.data.user._id).toBe(_id)
  on.clock.advance(4 * 3_600_000)
  expect(refusal(await (await startProgram(on, app)).call('POST', '/trial', { hwid: 'None' }))).toBe(
    'trialUsed',
  )
})

describe('white space at the ends of an id', () => {
  const spellings = ['pc-7', 'pc-7\n', ' pc-7', 'pc-7\r\n', '\tpc-7 ']

  test.each(spellings)('does not matter to a device bound as %j', async (bound) => {
    const { license, program } = await activateKey(on, owner, app, bound)
    for (const sent of spellings) {
      expect((await withKey(license.key, sent)).status).toBe(200)
      expect(await validate(license.key, sent)).toMatchObject({ valid: true, activated: true })
      const leased = await program.call('POST', '/lease', { hwid: sent })
      const [, claims] = leased.json.data.lease.split('.')
      // Leases name the id as the program sent it.
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).hwid).toBe(hashed(sent))
    }
    expect(refusal(await withKey(license.key, 'pc-77'))).toBe('hwidMismatch')
    expect(
      (await owner.call('GET', `/clients/${(await onlyClient())._id}/devices`)).json.data.devices,
    ).toHaveLength(1)
  })

  test.each(['pc-7\n', 'pc-7 ', 'pc-7\r\n'])(
    'does not matter to a device that an earlier version bound as %j',
    async (bound) => {
      const { key, program } = await bindAsBefore(bound)
      for (const sent of [bound, 'pc-7', `${bound} `]) {
        expect((await withKey(key, sent)).status).toBe(200)
        expect(await validate(key, sent)).toMatchObject({ valid: true, activated: true })
        expect((await program.call('POST', '/lease', { hwid: sent })).status).toBe(200)
      }
      expect((await program.call('GET', '/session')).status).toBe(200)
    },
  )

  test('does not matter to the block list, nor to a second trial', async () => {
    const { program, license } = await activateKey(on, owner, app, 'pc-7\n')
    const blocked = await owner.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: 'pc-7' })
    expect(refusal(await program.call('GET', '/session'))).toBe('hwidBlacklisted')
    expect(await validate(license.key, 'pc-7\n')).toMatchObject({ code: 'hwidBlacklisted' })
    await owner.call('DELETE', `/blocklist/${blocked.json.data.block._id}`)
    await makeType(owner, app, { trial: true, duration: { value: 3, unit: 'hours' } })
    const trial = async (hwid: string) => (await startProgram(on, app)).call('POST', '/trial', { hwid })
    expect((await trial('pc-8\n')).status).toBe(200)
    on.clock.advance(4 * 3_600_000)
    expect(refusal(await trial('pc-8'))).toBe('trialUsed')
  })

  test('does not give a second place to a machine that is activated by its request', async () => {
    const { license, user } = await activateKey(on, owner, app, 'pc-7\n')
    const request = makeRequest(app, { licenseKey: license.key, hwid: 'pc-7\n' })
    const { status } = await owner.call('POST', `/apps/${app._id}/offline-activations`, { request })
    expect(status).toBe(201)
    expect((await owner.call('GET', `/clients/${user._id}/devices`)).json.data.devices).toHaveLength(1)
  })
})

test('an end user with a password is bound by no placeholder either', async () => {
  const { user } = await registerUser(on, owner, app, 'alice')
  const program = await startProgram(on, app)
  const login = { username: 'alice', password: 'swordfish', hwid: 'N/A' }
  expect((await program.call('POST', '/login', login)).json.data.user).toMatchObject({
    _id: user._id,
    hwidBound: false,
  })
})
