import { expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { makeLicenses, type Program, refusal, single, startProgram } from '../actors.ts'
import { sentParts, setLicense } from '../devices.ts'
import { appForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

/** By default a lease and its grace last 240 hours, the cooldown 168. */
const leaseMs = 240 * hour

const machine = (at: number) => ({
  hwid: `pc-${at}`,
  parts: { machine: `m${at}`, board: `b${at}`, disk: `d${at}`, network: `n${at}` },
})
type Machine = ReturnType<typeof machine>
/** The same machine after its system was installed again. */
const reinstalled = (from: Machine, time = 1): Machine => ({
  hwid: `${from.hwid}-${time}`,
  parts: { ...from.parts, machine: `${from.parts.machine}-${time}` },
})

async function licenseFor(devices: number) {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceSelfService: true } })
  const license = single(await makeLicenses(on, owner, app, 1, 365))
  await setLicense(on, license, { devices })
  const signIn = async ({ hwid, parts }: Machine) => {
    const program = await startProgram(on, app)
    const device = { name: hwid, parts: sentParts(app, parts) }
    return {
      program,
      answer: await program.call('POST', '/license', { licenseKey: license.key, hwid, device }),
    }
  }
  const enter = async (from: Machine) => {
    const { program, answer } = await signIn(from)
    expect(answer.status).toBe(200)
    return program
  }
  const user = async () =>
    single<{ _id: string }>((await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients)
  return { license, signIn, enter, user }
}
const session = (program: Program) => program.call('GET', '/session')
const lease = (program: Program, { hwid }: Machine) => program.call('POST', '/lease', { hwid })
const listOf = async (user: { _id: string }) =>
  (await owner.call('GET', `/clients/${user._id}/devices`)).json.data
/** Frees a device by its name from a program. */
async function free(program: Program, { hwid }: Machine) {
  const { devices } = (await program.call('GET', '/devices')).json.data
  const { _id } = devices.find(({ name }: { name: string }) => name === hwid)
  return program.call('DELETE', `/devices/${_id}`)
}
const inMs = (ms: number) => new Date(on.clock.now() + ms).toISOString()
/** Advances the clock; the owner's session stays in use. */
async function pass(ms: number) {
  for (let left = ms; left > 0; left -= 5 * day) {
    on.clock.advance(Math.min(left, 5 * day))
    await owner.call('GET', '/auth/profile')
  }
}

test('a device that a program frees keeps its place until its lease and grace have ended', async () => {
  const { signIn, enter, user } = await licenseFor(1)
  const first = await enter(machine(1))
  expect((await lease(first, machine(1))).status).toBe(200)
  expect((await free(first, machine(1))).status).toBe(200)
  const { devices, used } = await listOf(await user())
  expect(used).toBe(1)
  expect(devices).toMatchObject([
    { freedUntil: inMs(leaseMs), offline: { until: inMs(leaseMs), by: 'lease' } },
  ])

  expect(refusal(await session(first))).toBe('hwidMismatch')
  expect(refusal(await lease(first, machine(1)))).toBe('hwidMismatch')
  await pass(leaseMs - 1)
  expect(refusal((await signIn(machine(2))).answer)).toBe('hwidMismatch')
  await pass(1)
  expect((await signIn(machine(2))).answer.json.data.user.devices).toEqual({ used: 1, limit: 1 })
  expect((await listOf(await user())).devices).toMatchObject([{ name: 'pc-2', freedUntil: null }])
})

test('housekeeping frees the place once the lease has ended', async () => {
  const { license, enter, user } = await licenseFor(1)
  const first = await enter(machine(1))
  await lease(first, machine(1))
  await free(first, machine(1))
  const body = { appId: app.appId, licenseKey: license.key, hwid: 'pc-2' }
  const validate = async () => (await on.call('POST', '/client/validate', { body })).json.data
  await pass(leaseMs - 1)
  await tidyUp(on)
  expect(await validate()).toMatchObject({ valid: false, code: 'hwidMismatch' })
  await pass(1)
  await tidyUp(on)
  expect(await listOf(await user())).toEqual({ devices: [], used: 0, limit: 1 })
  expect(await validate()).toMatchObject({ valid: true })
})

test('a freed device is not bound for validate, and its sign-in takes the place that it kept', async () => {
  const { license, enter, user } = await licenseFor(1)
  const first = await enter(machine(1))
  await lease(first, machine(1))
  await free(first, machine(1))
  const { hwid, parts } = machine(1)
  for (const device of [undefined, { parts: sentParts(app, parts) }]) {
    const body = { appId: app.appId, licenseKey: license.key, hwid, device }
    const { json } = await on.call('POST', '/client/validate', { body })
    expect(json.data).toMatchObject({ valid: false, activated: false, code: 'hwidMismatch' })
  }
  const again = await enter(machine(1))
  expect((await lease(again, machine(1))).status).toBe(200)
  expect(await listOf(await user())).toMatchObject({ used: 1, devices: [{ freedUntil: null }] })
})

test('a freed device is not remembered', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { rememberDays: 30 } })
  const { license } = await licenseFor(1)
  const program = await startProgram(on, app)
  const body = { licenseKey: license.key, hwid: 'pc-1', device: { name: 'pc-1' }, remember: true }
  const { deviceToken } = (await program.call('POST', '/license', body)).json.data
  await lease(program, machine(1))
  await free(program, machine(1))
  const other = await startProgram(on, app)
  expect(refusal(await other.call('POST', '/resume', { deviceToken, hwid: 'pc-1' }))).toBe('sessionUnauthed')
})

test('a freed device without a lease gives its place away at once', async () => {
  const { enter, user } = await licenseFor(1)
  const first = await enter(machine(1))
  expect((await free(first, machine(1))).status).toBe(200)
  expect((await listOf(await user())).used).toBe(0)
  await enter(machine(2))
})

test.each(['reset-hwid', 'free'])('the owner frees the place at once: %s', async (act) => {
  const { enter, user } = await licenseFor(1)
  await lease(await enter(machine(1)), machine(1))
  const { _id } = await user()
  const { devices } = await listOf({ _id })
  expect(devices).toMatchObject([{ offline: { until: inMs(leaseMs), by: 'lease' } }])
  const { status } = await (act === 'free'
    ? owner.call('DELETE', `/clients/${_id}/devices/${devices[0]._id}`)
    : owner.call('PATCH', `/clients/${_id}/reset-hwid`))
  expect(status).toBe(200)
  await enter(machine(2))
  const { client } = (await owner.call('GET', `/clients/${_id}`)).json.data
  expect(client.offline).toEqual({ until: inMs(leaseMs) })
})

test('the owner can free a place that waits for a lease', async () => {
  const { enter, user } = await licenseFor(1)
  const first = await enter(machine(1))
  await lease(first, machine(1))
  await free(first, machine(1))
  const { _id } = await user()
  const { devices } = await listOf({ _id })
  expect((await owner.call('DELETE', `/clients/${_id}/devices/${devices[0]._id}`)).status).toBe(200)
  await enter(machine(2))
})

test('a machine that only a free place lets in gets no lease', async () => {
  const { enter, user } = await licenseFor(2)
  await enter(machine(1))
  const second = await enter(machine(2))
  const { _id } = await user()
  const { devices } = await listOf({ _id })
  const { _id: deviceId } = devices.find(({ name }: { name: string }) => name === 'pc-2')
  await owner.call('DELETE', `/clients/${_id}/devices/${deviceId}`)
  expect((await session(second)).status).toBe(200)
  expect(refusal(await lease(second, machine(2)))).toBe('hwidMismatch')
})

test('concurrent freeing and leasing never leave a lease on a place that is free', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { enter, user, signIn } = await licenseFor(1)
    const first = await enter(machine(1))
    const [leased] = await Promise.all([lease(first, machine(1)), free(first, machine(1))])
    const other = await signIn(machine(2))
    expect([leased.status, other.answer.status]).not.toEqual([200, 200])
    await owner.call('DELETE', `/clients/${(await user())._id}`)
  }
})

test('a device that changed while its lease runs gets in, but no second lease', async () => {
  const { enter, signIn } = await licenseFor(1)
  const first = machine(1)
  await lease(await enter(first), first)
  const program = await enter(reinstalled(first))
  expect((await session(program)).status).toBe(200)
  const refused = await lease(program, reinstalled(first))
  expect(refusal(refused)).toBe('device_leased')
  expect(refused.json.details.until).toBe(inMs(leaseMs))
  // Others may not follow, but the machine with the lease may return.
  expect(refusal((await signIn(reinstalled(first, 2))).answer)).toBe('hwidMismatch')
  const back = await enter(first)
  expect((await lease(back, first)).status).toBe(200)
  expect(refusal(await session(program))).toBe('hwidMismatch')

  await pass(leaseMs)
  const later = await enter(reinstalled(first, 2))
  expect((await lease(later, reinstalled(first, 2))).status).toBe(200)
})
