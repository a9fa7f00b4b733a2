// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import type { PartName } from '@keyward/contract'
import { expect, test } from 'vitest'
import { makeLicenses, makeType, refusal, startProgram } from '../actors.ts'
import { sentParts } from '../devices.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

type Parts = { [Name in PartName]?: string }
const desktop: Parts = { machine: 'guid-1', board: 'uuid-1', disk: 'wd-1', network: '3c:52:82:00:00:01' }
const changed = { ...desktop, network: 'ac:e2:d3:00:00:05' }
const other = { ...changed, disk: 'wd-2' }

const sent = (hwid: string, parts: Parts) => ({ hwid, device: { parts: sentParts(app, parts) } })

async function signIn(hwid: string, parts: Parts, key?: string) {
  const licenseKey = key ?? (await makeLicenses(on, owner, app))[0]?.key
  const program = await startProgram(on, app)
  const answer = await program.call('POST', '/license', { licenseKey, ...sent(hwid, parts) })
  return { program, answer, key: licenseKey }
}

const block = async (value: string): Promise<string> => {
  const made = await owner.call('POST', `/apps/${app._id}/blocklist`, {
    kind: 'hwid',
    value,
    reason: 'resold',
  })
  expect(made.status).toBe(201)
  return made.json.data.block._id
}

test('a blocked device is refused under a new hardware id while three of its four parts are equal', async () => {
  await makeType(owner, app, { trial: true })
  expect((await signIn('pc-1', desktop)).answer.status).toBe(200)
  const id = await block('pc-1')
  const refused = await signIn('pc-2', changed)
  expect(refusal(refused.answer)).toBe('hwidBlacklisted')
  const validated = await on.call('POST', '/client/validate', {
    body: { appId: app.appId, licenseKey: refused.key, ...sent('pc-2', changed) },
  })
  expect(validated.json.data.code).toBe('hwidBlacklisted')
  const user = { username: 'alice', password: 'swordfish', licenseKey: refused.key }
  expect(
    refusal(await refused.program.call('POST', '/register', { ...user, ...sent('pc-2', changed) })),
  ).toBe('hwidBlacklisted')
  expect(refusal(await refused.program.call('POST', '/trial', sent('pc-2', changed)))).toBe('hwidBlacklisted')
  expect((await signIn('pc-3', other)).answer.status).toBe(200)
  expect((await signIn('pc-4', {})).answer.status).toBe(200)
  expect((await owner.call('DELETE', `/blocklist/${id}`)).status).toBe(200)
  expect((await signIn('pc-2', changed, refused.key)).answer.status).toBe(200)
})

test('a session of the device under another hardware id is refused from the next call on', async () => {
  await signIn('pc-1', desktop)
  const second = await signIn('pc-2', changed)
  const neighbor = await signIn('pc-3', other)
  await block('pc-1')
  expect(refusal(await second.program.call('GET', '/session'))).toBe('hwidBlacklisted')
  expect((await neighbor.program.call('GET', '/session')).status).toBe(200)
})

test('a session of the device under another hardware id adds no key', async () => {
  await signIn('pc-1', desktop)
  const second = await signIn('pc-2', changed)
  const [added] = await makeLicenses(on, owner, app)
  const body = { username: second.key, licenseKey: added!.key }
  const id = await block('pc-1')
  expect(refusal(await second.program.call('POST', '/upgrade', body))).toBe('hwidBlacklisted')
  await owner.call('DELETE', `/blocklist/${id}`)
  expect((await second.program.call('POST', '/upgrade', body)).status).toBe(200)
})

test('a ban that blocks devices blocks them by their parts too', async () => {
  const first = await signIn('pc-1', desktop)
  const { _id } = first.answer.json.data.user
  await owner.call('PATCH', `/clients/${_id}/toggle-ban`, { is_banned: true, blockDevices: true })
  const { blocks } = (await owner.call('GET', `/apps/${app._id}/blocklist`)).json.data
  const address = blocks.find(({ kind }: { kind: string }) => kind === 'address')
  await owner.call('DELETE', `/blocklist/${address._id}`)
  expect(refusal((await signIn('pc-2', changed)).answer)).toBe('hwidBlacklisted')
})

test('a block of a hardware id that the server does not know covers only that id', async () => {
  await block('pc-1')
  expect(refusal((await signIn('pc-1', desktop)).answer)).toBe('hwidBlacklisted')
  expect((await signIn('pc-2', desktop)).answer.status).toBe(200)
})

test('a device that is blocked in one app can sign in to another app', async () => {
  await signIn('pc-1', desktop)
  await block('pc-1')
  const { json } = await owner.call('POST', '/apps', { name: `Second ${app.appId}` })
  const second = json.data.app
  const [license] = await makeLicenses(on, owner, second)
  const program = await startProgram(on, second)
  const device = { parts: sentParts(app, desktop) }
  const body = { licenseKey: license?.key, hwid: 'pc-1', device }
  expect((await program.call('POST', '/license', body)).status).toBe(200)
})

test('the explanation of a refusal by parts says that it applies now, until the entry is removed', async () => {
  await signIn('pc-1', desktop)
  const id = await block('pc-1')
  const { answer } = await signIn('pc-2', changed)
  const explained = async () =>
    (await owner.call('GET', `/activity/${answer.json.reference}`)).json.data?.explanation.now.code
  await expect.poll(explained).toBe('hwidBlacklisted')
  await owner.call('DELETE', `/blocklist/${id}`)
  expect(await explained()).toBeNull()
})
