// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { activateKey, makeApp, makeLicenses, type Owner, signUp, startProgram } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)

async function signInAgain(): Promise<void> {
  const { json } = await on.call('POST', '/auth/login', {
    body: { email: owner.email, password: owner.password },
  })
  owner.token = json.data.token
  owner.call = (method, path, body) => on.call(method, path, { token: owner.token, body })
}

const stats = async () => (await owner.call('GET', '/resellers/dashboard/data')).json.data.stats
const zero = { value: 0, change: 0, added: 0 }

test('shows zeros for an empty account', async () => {
  const { json } = await owner.call('GET', '/resellers/dashboard/data')
  expect(json.data.stats).toEqual({
    totalLicenses: zero,
    activeLicenses: zero,
    totalResellers: zero,
    totalClients: zero,
    expiringSoon: { value: 0, change: 0 },
  })
  expect(json.data.user).toMatchObject({ _id: owner.accountId, plan: 'free', maxLicensesPerApp: 30 })
})

test('counts all apps of this owner and of no other', async () => {
  const otherOwner = await signUp(on)
  await activateKey(on, otherOwner, await makeApp(otherOwner))
  await makeLicenses(on, owner, app, 3, 90)
  await activateKey(on, owner, await makeApp(owner, 'Second'))
  expect(await stats()).toEqual({
    totalLicenses: { value: 4, change: 4, added: 4 },
    activeLicenses: { value: 1, change: 1, added: 1 },
    totalResellers: zero,
    totalClients: { value: 1, change: 1, added: 1 },
    expiringSoon: { value: 0, change: 0 },
  })
})

test('compares the last 30 days with the 30 days before', async () => {
  await makeLicenses(on, owner, app, 5, 300)
  on.clock.advance(30 * day)
  await signInAgain()
  expect((await stats()).totalLicenses).toEqual({ value: 5, change: -5, added: 0 })
  await makeLicenses(on, owner, app, 7, 300)
  expect((await stats()).totalLicenses).toEqual({ value: 12, change: 2, added: 7 })
  on.clock.advance(30 * day)
  await signInAgain()
  expect((await stats()).totalLicenses).toEqual({ value: 12, change: -7, added: 0 })
  on.clock.advance(30 * day)
  await signInAgain()
  expect((await stats()).totalLicenses).toEqual({ value: 12, change: 0, added: 0 })
})

test('deleting lowers the value but not the number created', async () => {
  const [license] = await makeLicenses(on, owner, app, 5)
  await activateKey(on, owner, app)
  await owner.call('DELETE', `/licenses/${license!._id}`)
  expect(await stats()).toMatchObject({
    totalLicenses: { value: 5, added: 6 },
    activeLicenses: { value: 1, added: 1 },
    totalClients: { value: 1, added: 1 },
  })
  await owner.call('DELETE', '/licenses')
  expect(await stats()).toMatchObject({
    totalLicenses: { value: 0, added: 6 },
    activeLicenses: { value: 0, added: 1 },
  })
})

test('counts used licenses that expire within 7 days as expiring soon, and expired ones not', async () => {
  await activateKey(on, owner, app)
  await makeLicenses(on, owner, app, 2, 5)
  expect((await stats()).expiringSoon).toEqual({ value: 0, change: 0 })
  on.clock.advance(23 * day)
  await signInAgain()
  expect((await stats()).expiringSoon).toEqual({ value: 1, change: 1 })
  on.clock.advance(7 * day)
  await signInAgain()
  expect((await stats()).expiringSoon).toEqual({ value: 0, change: -1 })
  expect((await stats()).activeLicenses.value).toBe(0)
})

const listed = async (noun: 'licenses' | 'clients', query: string, caller: Pick<Owner, 'call'> = owner) =>
  (await caller.call('GET', `/${noun}?status=expiring&${query}`)).json.data as {
    pagination: { total: number }
    licenses: { _id: string }[]
    clients: { _id: string }[]
  }

test('the list of licenses that expire soon has exactly those that are counted, to the millisecond', async () => {
  const second = await makeApp(owner, 'Second')
  const other = await signUp(on)
  await activateKey(on, other, await makeApp(other))
  const used = await Promise.all(
    Array.from({ length: 6 }, (_, at) => activateKey(on, owner, at < 4 ? app : second)),
  )
  const [past, first, last, after, banned] = used.map(({ license }) => license._id)
  await makeLicenses(on, owner, app, 2, 3)
  const end = (id = '', days = 0, ms = 0) =>
    owner.call('PUT', `/licenses/${id}`, {
      expiresAt: new Date(on.clock.now() + days * day + ms).toISOString(),
    })
  await end(past, 0)
  await end(first, 0, 1)
  await end(last, 7)
  await end(after, 7, 1)
  await end(banned, 3)
  await owner.call('PATCH', `/licenses/${banned}/toggle-ban`, { is_banned: true })
  const expected = [first, last, banned]
  expect((await stats()).expiringSoon.value).toBe(3)
  for (const sort of ['newest', 'oldest', 'expires_first', 'expires_last']) {
    const { licenses, pagination } = await listed('licenses', `sort=${sort}`)
    expect(licenses.map(({ _id }) => _id).sort()).toEqual([...expected].sort())
    expect(pagination.total).toBe(3)
  }
  expect((await listed('licenses', `app=${second._id}`)).licenses.map(({ _id }) => _id)).toEqual([banned])
  const { ids } = (await owner.call('GET', '/licenses/ids?status=expiring')).json.data
  expect(ids.sort()).toEqual([...expected].sort())
  const exported = (await owner.call('GET', '/licenses/export?format=json&status=expiring')).json
  expect(exported.map(({ _id }: { _id: string }) => _id).sort()).toEqual([...expected].sort())
  const member = await addMember(on, owner, { role: 'viewer', apps: [second._id] })
  const theirs = (await member.call('GET', '/resellers/dashboard/data')).json.data.stats
  expect([theirs.expiringSoon.value, (await listed('licenses', '', member)).pagination.total]).toEqual([1, 1])
  const { clients, pagination } = await listed('clients', '')
  expect([clients.length, pagination.total]).toEqual([3, 3])
  await owner.call('PATCH', `/clients/${clients[0]?._id}/toggle-ban`, { is_banned: true })
  expect((await listed('clients', '')).pagination.total).toBe(2)
})

test('a license that just expired is not expiring soon', async () => {
  const { license } = await activateKey(on, owner, app)
  await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: on.clock.inDays(-1) })
  on.clock.advance(60_000)
  expect((await stats()).expiringSoon.value).toBe(0)
})

test('counts activations and sign-ins by UTC day over 30 days', async () => {
  const activity = async (filter = '') =>
    (await owner.call('GET', `/activity/days${filter}`)).json.data.days as { date: string }[]
  const today = () => new Date(on.clock.now()).toISOString().slice(0, 10)
  const { license } = await activateKey(on, owner, app)
  const first = today()
  on.clock.advance(day)
  const program = await startProgram(on, app)
  await program.call('POST', '/license', { licenseKey: license.key })
  await program.call('POST', '/license', { licenseKey: license.key })
  await program.call('POST', '/license', { licenseKey: 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE' })

  const days = await activity()
  expect(days).toHaveLength(30)
  expect(days.map((one) => one.date)).toEqual([...days.map((one) => one.date)].sort())
  expect(days.at(-2)).toEqual({ date: first, activations: 1, signIns: 1, refusals: 0 })
  expect(days.at(-1)).toMatchObject({ date: today(), activations: 0, signIns: 2 })
  expect(days.slice(0, -2).every((one) => 'activations' in one && one.activations === 0)).toBe(true)
  const other = await makeApp(owner, 'Second')
  expect((await activity(`?app=${other._id}`)).at(-1)).toMatchObject({ activations: 0, signIns: 0 })
  expect((await activity(`?app=${app.appId}`)).at(-1)).toMatchObject({ signIns: 2 })

  on.clock.advance(30 * day)
  await signInAgain()
  expect((await activity()).every((one) => 'signIns' in one && one.signIns === 0)).toBe(true)
})

test('counts each refusal of an app once, on its UTC day, also after the app next to it was deleted', async () => {
  const refusals = async (id: string) =>
    (await owner.call('GET', `/activity/days?app=${id}`)).json.data.days
      .map((one: { refusals: number }) => one.refusals)
      .filter((n: number) => n > 0)
  const refuse = (appId: string, licenseKey: string) =>
    on.call('POST', '/client/validate', { body: { appId, licenseKey } })
  const second = await makeApp(owner, 'Second')
  await refuse(app.appId, 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE')
  await refuse(app.appId, 'AAAAA-BBBBB-CCCCC-DDDDD-FFFFF')
  await refuse(second.appId, 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE')
  await expect.poll(() => refusals(app._id)).toEqual([2])
  await expect.poll(() => refusals(second._id)).toEqual([1])
  on.clock.advance(day)
  await refuse(app.appId, 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE')
  await refuse(second.appId, 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE')
  expect((await owner.call('DELETE', `/apps/${second._id}`)).status).toBe(200)
  await expect.poll(() => refusals(app._id)).toEqual([2, 1])
})
