// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import type { PartName } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { makeApp, makeType, refusal, signUp, single, startProgram } from '../actors.ts'
import { sentParts } from '../devices.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { recount } from '../recount.ts'

const on = serverForAll({}, { gateSizes: { requests: { running: 100, waiting: 0 } } })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

type Parts = { [Name in PartName]?: string }
const desktop: Parts = { machine: 'guid', board: 'uuid', disk: 'wd', network: '3c:52:82:00:00:01' }

const trial = async (hwid: unknown, parts: Parts = {}, more: object = {}) => {
  const program = await startProgram(on, app)
  const body = { hwid, device: { parts: sentParts(app, parts) }, ...more }
  return { program, answer: await program.call('POST', '/trial', body) }
}
const granted = async (hwid: string, parts?: Parts, more?: object) => {
  const { program, answer } = await trial(hwid, parts, more)
  expect(answer.status).toBe(200)
  return { program, user: answer.json.data.user }
}
const refusedTrial = async (hwid: string, parts?: Parts) => refusal((await trial(hwid, parts)).answer)
const licenses = async () => (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses

test('starts a trial on the device, named after its new key', async () => {
  const type = await makeType(owner, app, { trial: true, keyPrefix: 'TRY' })
  const { program, user } = await granted('pc-1', desktop, { email: 'ada@example.com' })
  expect(user).toMatchObject({
    username: expect.stringMatching(/^TRY-/),
    email: 'ada@example.com',
    expiresAt: on.clock.inDays(30),
    devices: { used: 1, limit: 1 },
  })
  expect((await program.call('GET', '/session')).status).toBe(200)
  expect(single(await licenses())).toMatchObject({
    key: user.username,
    trial: true,
    used: true,
    type: { _id: type._id },
  })
  const byKey = await program.call('POST', '/license', { licenseKey: user.username, hwid: 'pc-1' })
  expect(byKey.status).toBe(200)
  expect((await recount(on)).kept).toEqual((await recount(on)).counted)
})

test('explains whether a used trial had ended or was deleted', async () => {
  await makeType(owner, app, { trial: true, duration: { value: 3, unit: 'hours' } })
  const explanationOf = async (hwid: string) => {
    const { answer } = await trial(hwid)
    expect(refusal(answer)).toBe('trialUsed')
    const explain = () => owner.call('GET', `/activity/${answer.json.reference}`)
    await expect.poll(async () => (await explain()).status).toBe(200)
    return (await explain()).json.data.explanation.why
  }
  const { user } = await granted('pc-1')
  await granted('pc-2')
  await owner.call('DELETE', `/clients/${user._id}`)
  expect(await explanationOf('pc-1')).toBe(
    'The end user or the license of the trial on this device was deleted.',
  )
  on.clock.advance(3 * hour)
  expect(await explanationOf('pc-2')).toBe('The trial on this device had ended.')
})

test('signs in to a running trial, and is used after its end', async () => {
  await makeType(owner, app, { trial: true, duration: { value: 3, unit: 'hours' } })
  const { user } = await granted('pc-1')
  on.clock.advance(2 * hour)
  expect((await granted('pc-1')).user._id).toBe(user._id)
  on.clock.advance(hour)
  const { answer } = await trial('pc-1')
  expect(refusal(answer)).toBe('trialUsed')
  expect(answer.json.message).toBe('The trial was already used on this device')
  expect(await licenses()).toHaveLength(1)
  expect((await trial('pc-2')).answer.status).toBe(200)
})

describe('gives no second trial to', () => {
  test.each<[string, string, Parts]>([
    ['a reinstalled device', 'pc-2', { ...desktop, machine: 'guid-2' }],
    ['a device with a new network card', 'pc-1', { ...desktop, network: '3c:52:82:00:00:02' }],
    ['a device with a new hardware id alone', 'pc-2', desktop],
    ['a cloned disk in another computer', 'pc-1', { machine: 'guid', board: 'b', disk: 'd', network: 'n' }],
    ['a program that sends no parts', 'pc-1', {}],
  ])('%s', async (_what, hwid, parts) => {
    await makeType(owner, app, { trial: true })
    const { user } = await granted('pc-1', desktop)
    await owner.call('DELETE', `/clients/${user._id}`)
    expect(await refusedTrial(hwid, parts)).toBe('trialUsed')
  })

  test('a device that changed step by step while its trial ran', async () => {
    await makeType(owner, app, { trial: true })
    const steps: [string, Parts][] = [
      ['pc-2', { ...desktop, machine: 'm2' }],
      ['pc-3', { ...desktop, machine: 'm2', board: 'b2' }],
      ['pc-4', { machine: 'm2', board: 'b2', disk: 'd2', network: desktop.network! }],
    ]
    const { user } = await granted('pc-1', desktop)
    for (const [hwid, parts] of steps) expect((await granted(hwid, parts)).user._id).toBe(user._id)
    expect(await licenses()).toHaveLength(1)
  })
})

test('another device, and another app, get trials of their own', async () => {
  await makeType(owner, app, { trial: true })
  const first = await granted('pc-1', desktop)
  const other = await granted('pc-2', { machine: 'm', board: 'b', disk: 'd', network: desktop.network! })
  expect(other.user._id).not.toBe(first.user._id)
  const placeholders = { machine: '', board: 'default string', disk: 'none', network: '00:00:00:00:00:00' }
  await granted('pc-3', placeholders)
  await granted('pc-4', placeholders)
  const second = await makeApp(owner)
  await makeType(owner, second, { trial: true })
  const program = await startProgram(on, second)
  expect((await program.call('POST', '/trial', { hwid: 'pc-1' })).status).toBe(200)
})

test('takes the oldest trial type, or the one that is named, of this app only', async () => {
  const paid = await makeType(owner, app)
  expect(await refusedTrial('pc-1')).toBe('not_found')
  const oldest = await makeType(owner, app, { trial: true })
  const long = await makeType(owner, app, { trial: true, duration: { value: 60, unit: 'days' } })
  const foreign = await makeType(owner, await makeApp(owner), { trial: true })
  expect((await granted('pc-1')).user.expiresAt).toBe(on.clock.inDays(30))
  expect((await granted('pc-2', {}, { type: long._id })).user.expiresAt).toBe(on.clock.inDays(60))
  for (const type of [paid._id, foreign._id, 'x']) {
    expect(refusal((await trial('pc-3', {}, { type })).answer)).toBe('not_found')
  }
  expect((await granted('pc-3', {}, { type: oldest._id })).user.expiresAt).toBe(on.clock.inDays(30))
})

test('needs a hardware id', async () => {
  await makeType(owner, app, { trial: true })
  for (const hwid of [undefined, '', 7]) {
    expect(refusal((await trial(hwid)).answer)).toBe('invalid_input')
  }
})

test('a banned trial user, and a blocked device, get the reason of that', async () => {
  await makeType(owner, app, { trial: true })
  const { user } = await granted('pc-1')
  await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
  expect(await refusedTrial('pc-1')).toBe('userBanned')
  await owner.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: 'pc-2' })
  expect(await refusedTrial('pc-2')).toBe('hwidBlacklisted')
  expect(await licenses()).toHaveLength(1)
})

test('counts toward the limit of the plan', async () => {
  const free = await signUp(on)
  const small = await makeApp(free)
  await makeType(free, small, { trial: true })
  await free.call('POST', '/licenses', { app: small._id, expiresAt: on.clock.inDays(1), count: 29 })
  const start = async (hwid: string) => (await startProgram(on, small)).call('POST', '/trial', { hwid })
  expect((await start('pc-1')).status).toBe(200)
  expect(refusal(await start('pc-2'))).toBe('plan_limit_reached')
  expect((await start('pc-1')).status).toBe(200)
})

describe('with rate limits', () => {
  const limited = serverForAll({ RATE_LIMITS: 'on' })
  const vendor = premiumOwnerForAll(limited)
  const product = appForEach(vendor)

  test('an address starts 100 trials of an app in an hour; running ones and other addresses are not counted', async () => {
    await makeType(vendor, product, { trial: true })
    const program = await startProgram(limited, product)
    const start = async (hwid: string, from: string) =>
      (await program.call('POST', '/trial', { hwid }, { from })).status
    for (let at = 0; at < 100; at += 1) expect(await start(`pc-${at}`, '10.2.0.1')).toBe(200)
    expect(await start('pc-100', '10.2.0.1')).toBe(429)
    expect(await start('pc-99', '10.2.0.1')).toBe(200)
    expect(await start('pc-100', '10.2.0.2')).toBe(200)
    limited.clock.advance(hour)
    expect(await start('pc-101', '10.2.0.1')).toBe(200)
  })
})
