// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import {
  activateKey,
  makeLicenses,
  type Program,
  refusal,
  registerUser,
  single,
  startProgram,
} from '../actors.ts'
import { setLicense } from '../devices.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { recount } from '../recount.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const setApp = (settings: object) => owner.call('PUT', `/apps/${app._id}`, { settings })
const listOf = async (user: { _id: string }) =>
  (await owner.call('GET', `/clients/${user._id}/devices`)).json.data
const endUser = async () =>
  single<{ hwid: string | null }>((await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients)

/** An end user with a license for several devices, signed in on the first. */
async function onDevices(devices: number, device?: object) {
  const license = single(await makeLicenses(on, owner, app))
  await setLicense(on, license, { devices })
  const signIn = async (hwid?: string, more?: object) => {
    const program = await startProgram(on, app)
    const answer = await program.call('POST', '/license', { licenseKey: license.key, hwid, device: more })
    return { program, answer }
  }
  const { program, answer } = await signIn('pc-1', device)
  expect(answer.status).toBe(200)
  return { license, user: answer.json.data.user as { _id: string }, first: program, signIn }
}
const session = (program: Program) => program.call('GET', '/session')

describe('a license for three devices', () => {
  test('binds three, refuses the fourth, and accepts it once one was freed', async () => {
    const { user, first, signIn } = await onDevices(3)
    expect((await signIn('pc-2')).answer.json.data.user.devices).toEqual({ used: 2, limit: 3 })
    const third = await signIn('pc-3')
    const fourth = await signIn('pc-4')
    expect(refusal(fourth.answer)).toBe('hwidMismatch')
    expect(fourth.answer.json.details).toEqual({
      expiresAt: expect.any(String),
      startedAt: null,
      devices: { used: 3, limit: 3 },
      links: { buy: null, renew: null, upgrades: [] },
      seats: null,
      until: null,
    })
    for (const { program } of [{ program: first }, third]) expect((await session(program)).status).toBe(200)
    const { devices, used, limit } = await listOf(user)
    expect({ used, limit, listed: devices.length }).toEqual({ used: 3, limit: 3, listed: 3 })
    const freed = await owner.call('DELETE', `/clients/${user._id}/devices/${devices.at(-1)._id}`)
    expect(freed.status).toBe(200)
    expect((await signIn('pc-4')).answer.status).toBe(200)
    expect(refusal(await session(first))).toBe('hwidMismatch')
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('never accepts a missing id once one is bound', async () => {
    const { signIn } = await onDevices(3)
    for (const hwid of [undefined, '']) expect(refusal((await signIn(hwid)).answer)).toBe('hwidMismatch')
  })

  test("keeps the end user's hardware id that of the device seen last", async () => {
    const { user, signIn } = await onDevices(2)
    on.clock.advance(hour)
    await signIn('pc-2')
    expect((await endUser()).hwid).toBe('pc-2')
    on.clock.advance(hour)
    await signIn('pc-1')
    expect((await endUser()).hwid).toBe('pc-1')
    const { devices } = await listOf(user)
    await owner.call('DELETE', `/clients/${user._id}/devices/${devices[0]._id}`)
    expect((await endUser()).hwid).toBe('pc-2')
    await owner.call('DELETE', `/clients/${user._id}/devices/${devices[1]._id}`)
    expect(await endUser()).toMatchObject({ hwid: null })
  })

  test('keeps devices that are bound when it is made smaller', async () => {
    const { license, signIn } = await onDevices(3)
    await signIn('pc-2')
    await setLicense(on, license, { devices: 1 })
    expect((await signIn('pc-2')).answer.json.data.user.devices).toEqual({ used: 2, limit: 1 })
    expect(refusal((await signIn('pc-3')).answer)).toBe('hwidMismatch')
  })

  test('loses all devices with a reset, also in bulk', async () => {
    const { user, signIn } = await onDevices(3)
    await signIn('pc-2')
    await owner.call('PATCH', `/clients/${user._id}/reset-hwid`)
    expect(await listOf(user)).toEqual({ devices: [], used: 0, limit: 3 })
    await signIn('pc-3')
    await owner.call('POST', '/clients/bulk', { action: 'reset-hwid', ids: [user._id] })
    expect(await listOf(user)).toEqual({ devices: [], used: 0, limit: 3 })
  })
})

test('an end user without a license has one device', async () => {
  const body = {
    username: 'ada',
    password: 'swordfish',
    appId: app._id,
    hwid: 'pc-1',
    expiresAt: on.clock.inDays(9),
  }
  const { client } = (await owner.call('POST', '/clients/create-direct', body)).json.data
  expect(await listOf(client)).toMatchObject({ used: 1, limit: 1, devices: [{ name: null }] })
  const program = await startProgram(on, app)
  const login = (hwid: string) =>
    program.call('POST', '/login', { username: 'ada', password: 'swordfish', hwid })
  expect(refusal(await login('pc-2'))).toBe('hwidMismatch')
  expect((await login('pc-1')).status).toBe(200)
})

test('while the lock is off a free place is taken, and without one the program gets in', async () => {
  const { user, signIn } = await onDevices(2)
  await setApp({ hwidLock: false })
  await signIn('pc-2')
  const third = await signIn('pc-3')
  expect(third.answer.json.data.user.devices).toEqual({ used: 2, limit: 2 })
  expect((await session(third.program)).status).toBe(200)
  expect((await listOf(user)).used).toBe(2)
  await setApp({ hwidLock: true })
  expect(refusal(await session(third.program))).toBe('hwidMismatch')
})

test('an unlimited license accepts every device and stores a limited number of them', async () => {
  const { license, user, signIn } = await onDevices(-1)
  expect((await signIn('pc-2')).answer.json.data.user.devices).toEqual({ used: 2, limit: -1 })
  expect((await signIn(undefined)).answer.status).toBe(200)
  const { db } = on.database
  const [row] = await db.selectFrom('devices').selectAll().where('client_id', '=', user._id).execute()
  const rows = Array.from({ length: limits.devicesMax - 2 }, (_, at) => ({
    ...row!,
    id: `dev_${app.appId}${at}`,
    hwid: `old-${at}`,
    hwid_hash: `old-${at}`,
    last_seen_at: at,
  }))
  for (let at = 0; at < rows.length; at += 100)
    await db
      .insertInto('devices')
      .values(rows.slice(at, at + 100))
      .execute()
  await db
    .updateTable('clients')
    .set({ device_count: limits.devicesMax })
    .where('id', '=', user._id)
    .execute()
  on.clock.advance(1)
  expect((await signIn('pc-3')).answer.json.data.user.devices.used).toBe(limits.devicesMax)
  const { devices } = await listOf(user)
  expect(devices).toHaveLength(limits.devicesMax)
  expect(devices.some((device: { _id: string }) => device._id === rows[0]!.id)).toBe(false)
  await setLicense(on, license, { devices: 1 })
  expect(refusal((await signIn('pc-4')).answer)).toBe('hwidMismatch')
})

test('lists name and system without characters that could imitate other text', async () => {
  const name = `Ada\u202e\u0007's \u200b\n PC ${'x'.repeat(100)}`
  const { user, signIn } = await onDevices(2, { name, system: 'Linux 6.1' })
  const { devices } = await listOf(user)
  expect(single<{ name: string }>(devices)).toMatchObject({
    name: `Ada's PC ${'x'.repeat(55)}`,
    system: 'Linux 6.1',
  })
  const tooLong = await signIn('pc-2', { name: 'x'.repeat(10_000) })
  expect(refusal(tooLong.answer)).toBe('invalid_input')
  await signIn('pc-2', { name: '\u202e\u200b ' })
  expect((await listOf(user)).devices.map((device: { name: string }) => device.name)).toContain(null)
})

test('writes that a running device was seen once a day', async () => {
  const seenBefore = async (ms: number) => {
    const { user, first } = await onDevices(1)
    const at = on.clock.now() - ms
    const { db } = on.database
    await db.updateTable('devices').set({ last_seen_at: at }).where('client_id', '=', user._id).execute()
    await session(first)
    return async () => Date.parse(single<{ lastSeenAt: string }>((await listOf(user)).devices).lastSeenAt)
  }
  const today = await seenBefore(day)
  const yesterday = await seenBefore(day + 1)
  await expect.poll(yesterday).toBe(on.clock.now())
  expect(await today()).toBe(on.clock.now() - day)
})

describe('self-service', () => {
  const list = (program: Program) => program.call('GET', '/devices')
  const free = (program: Program, id: string) => program.call('DELETE', `/devices/${id}`)

  test('is off by default', async () => {
    const { user, first } = await onDevices(2)
    const { devices } = await listOf(user)
    expect(refusal(await list(first))).toBe('device_self_service_off')
    expect(refusal(await free(first, devices[0]._id))).toBe('device_self_service_off')
    expect((await listOf(user)).used).toBe(1)
  })

  test('lists and frees a device, one within the cooldown', async () => {
    await setApp({ deviceSelfService: true, deviceCooldownHours: 2 })
    const { user, first, signIn } = await onDevices(3, { name: 'Laptop' })
    await signIn('pc-2')
    await signIn('pc-3')
    const { devices } = (await list(first)).json.data
    const shown = (await listOf(user)).devices
    expect(shown).toEqual(devices.map((device: object) => ({ ...device, offline: null })))
    const mine = devices.find((device: { name: string }) => device.name === 'Laptop')
    const [other, another] = devices.filter((device: object) => device !== mine)
    expect((await free(first, other._id)).status).toBe(200)
    const tooSoon = await free(first, another._id)
    expect(refusal(tooSoon)).toBe('device_cooldown')
    expect(tooSoon.json.details.until).toBe(new Date(on.clock.now() + 2 * hour).toISOString())
    expect(tooSoon.headers.signature).toBeDefined()
    on.clock.advance(2 * hour - 1)
    expect(refusal(await free(first, another._id))).toBe('device_cooldown')
    on.clock.advance(1)
    expect((await free(first, another._id)).status).toBe(200)
    expect((await listOf(user)).devices).toEqual([{ ...mine, offline: null }])
  })

  test('the cooldown does not count what the owner freed', async () => {
    await setApp({ deviceSelfService: true })
    const { user, first, signIn } = await onDevices(2)
    await signIn('pc-2')
    const { devices } = await listOf(user)
    await owner.call('DELETE', `/clients/${user._id}/devices/${devices[0]._id}`)
    expect((await list(first)).status).toBe(200)
    expect((await free(first, devices[1]._id)).status).toBe(200)
  })

  test("cannot free another end user's device, nor one twice, and needs a signed-in session", async () => {
    await setApp({ deviceSelfService: true })
    const { user, first } = await onDevices(2)
    const other = await registerUser(on, owner, app, 'bob')
    const { devices } = await listOf(user)
    expect(refusal(await free(other.program, devices[0]._id))).toBe('not_found')
    expect((await listOf(user)).used).toBe(1)
    const anyone = await startProgram(on, app)
    expect(refusal(await free(anyone, devices[0]._id))).toBe('sessionUnauthed')
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    expect(refusal(await free(first, devices[0]._id))).toBe('userBanned')
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    expect((await free(first, devices[0]._id)).status).toBe(200)
    expect(refusal(await free(first, devices[0]._id))).toBe('device_cooldown')
  })
})

test('deleting an app deletes its devices', async () => {
  await onDevices(2)
  await owner.call('DELETE', `/apps/${app._id}`)
  const { rows } = await sql`select 1 from devices where app_id = ${app._id}`.execute(on.database.db)
  expect(rows).toEqual([])
})

test('a session stays valid on a device that another sign-in binds again after a reset', async () => {
  const { program, license, user } = await activateKey(on, owner, app, 'pc-1')
  await owner.call('PATCH', `/clients/${user._id}/reset-hwid`)
  const other = await startProgram(on, app)
  await other.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
  expect((await session(program)).status).toBe(200)
})
