// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { beforeEach, describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeLicenses, registerUser, single, startProgram } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)

type License = { _id: string; key: string; expiresAt: string }
/** A license of 30 days with an end user. */
let first: License
let userId: string
beforeEach(async () => {
  const made = await registerUser(on, owner, app)
  first = made.license
  userId = made.user._id
})

/** Adds a fresh key that ends in this many days. */
async function add(days: number): Promise<License> {
  const license = single(await makeLicenses(on, owner, app, 1, days))
  const program = await startProgram(on, app)
  const answer = await program.call('POST', '/upgrade', { username: 'alice', licenseKey: license.key })
  expect(answer.status).toBe(200)
  return license
}

const licenses = async () =>
  (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses as License[]
/** The days that the end user has left; its first license must always show the same end. */
async function daysLeft(): Promise<number> {
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  const { expiresAt, licenseKey } = clients[0]
  if (licenseKey !== null) {
    expect((await licenses()).find(({ _id }) => _id === first._id)?.expiresAt).toBe(expiresAt)
  }
  return (Date.parse(expiresAt) - on.clock.now()) / day
}
const remove = ({ _id }: License) => owner.call('DELETE', `/licenses/${_id}`)
const ban = ({ _id }: License, is_banned: boolean) =>
  owner.call('PATCH', `/licenses/${_id}/toggle-ban`, { is_banned })
const bulk = (action: string, ...keys: License[]) =>
  owner.call('POST', '/licenses/bulk', { action, ids: keys.map(({ _id }) => _id) })

describe('deleting a key that an upgrade added', () => {
  test('takes back the time that it added, no more, and the end user still signs in', async () => {
    const [ten, five] = [await add(10), await add(5)]
    expect(await daysLeft()).toBe(45)
    await remove(ten)
    expect(await daysLeft()).toBe(35)
    await remove(five)
    expect(await daysLeft()).toBe(30)
    const program = await startProgram(on, app)
    const { status } = await program.call('POST', '/login', { username: 'alice', password: 'swordfish' })
    expect(status).toBe(200)
  })

  test('together with the first license expires the end user', async () => {
    const added = await add(10)
    await bulk('delete', first, added)
    expect(await daysLeft()).toBe(0)
  })

  test('after the first license takes nothing from time that was added later', async () => {
    const added = await add(10)
    await remove(first)
    expect(await daysLeft()).toBe(0)
    await owner.call('PATCH', `/clients/${userId}/extend`, { days: 7 })
    await remove(added)
    expect(await daysLeft()).toBe(7)
  })

  test('takes back each of more keys than a page of them shows, deleted or banned together with other licenses', async () => {
    const added = []
    for (let at = 0; at < 12; at += 1) added.push(await add(1 + at))
    expect(await daysLeft()).toBe(30 + 78)
    expect((await bulk('ban', ...added, first)).status).toBe(200)
    expect(await daysLeft()).toBe(30)
    expect((await bulk('unban', ...added.slice(6), first)).status).toBe(200)
    expect(await daysLeft()).toBe(30 + 57)
    expect((await bulk('unban', ...added.slice(0, 6))).status).toBe(200)
    expect(await daysLeft()).toBe(30 + 78)
    await remove(added[11]!)
    expect(await daysLeft()).toBe(30 + 66)
    expect((await bulk('delete', ...added.slice(0, 11))).status).toBe(200)
    expect(await daysLeft()).toBe(30)
  })
})

describe('banning a key that an upgrade added', () => {
  test('takes back the time that it added once; lifting the ban gives it back once', async () => {
    const added = await add(10)
    for (const banned of [true, true]) await ban(added, banned)
    expect(await daysLeft()).toBe(30)
    for (const banned of [false, false]) await ban(added, banned)
    expect(await daysLeft()).toBe(40)
  })

  test('and then deleting it takes the time back once', async () => {
    const added = await add(10)
    await ban(added, true)
    await remove(added)
    expect(await daysLeft()).toBe(30)
  })

  test('leaves a freed key unrelated to its former end user', async () => {
    const added = await add(10)
    await ban(added, true)
    await owner.call('DELETE', `/clients/${userId}`)
    const { license } = await registerUser(on, owner, app, 'bobby')
    first = license
    await ban(added, false)
    expect(await daysLeft()).toBe(30)
    const program = await startProgram(on, app)
    await program.call('POST', '/upgrade', { username: 'bobby', licenseKey: added.key })
    expect(await daysLeft()).toBe(40)
    await remove(added)
    expect(await daysLeft()).toBe(30)
  })
})

test.each(['a key that was added since', 'days that the owner added since'])(
  'a key that was issued again adds its time to that of %s',
  async (what) => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
    const sell = async () => {
      const body = { app: app._id, expiresAt: on.clock.inDays(30), key: 'COME-BACK-1' }
      first = (await owner.call('POST', '/licenses', body)).json.data.license
    }
    const signIn = async () => {
      const program = await startProgram(on, app)
      return (await program.call('POST', '/license', { licenseKey: first.key })).json.data.user
    }
    const end = async (_id: string) => (await owner.call('GET', `/clients/${_id}`)).json.data.client.expiresAt
    await sell()
    const { _id } = await signIn()
    await remove(first)
    const added = single(await makeLicenses(on, owner, app, 1, 10))
    if (what.startsWith('days')) await owner.call('PATCH', `/clients/${_id}/extend`, { days: 10 })
    else {
      const program = await startProgram(on, app)
      await program.call('POST', '/upgrade', { username: first.key, licenseKey: added.key })
    }
    await sell()
    expect(await signIn()).toMatchObject({ _id, expiresAt: on.clock.inDays(40) })
    const listed = (await licenses()).find((license) => license._id === first._id)
    expect([await end(_id), listed?.expiresAt]).toEqual([on.clock.inDays(40), on.clock.inDays(40)])
    await remove(added)
    expect(await end(_id)).toBe(on.clock.inDays(what.startsWith('days') ? 40 : 30))
  },
)

test('concurrent bans, deletions, extensions and upgrades add up', async () => {
  const keys = [await add(10), await add(10), await add(10), await add(10)] as const
  const fresh = single(await makeLicenses(on, owner, app, 1, 3))
  const program = await startProgram(on, app)
  const answers = await Promise.all([
    ban(keys[0], true),
    remove(keys[1]),
    bulk('ban', keys[2], first),
    owner.call('PATCH', `/clients/${userId}/extend`, { days: 5 }),
    program.call('POST', '/upgrade', { username: 'alice', licenseKey: fresh.key }),
    ban(keys[0], true),
    bulk('extend', first).then((answer) => ({ ...answer, status: 200 })),
  ])
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(await daysLeft()).toBe(30 + 10 + 5 + 3)
})
