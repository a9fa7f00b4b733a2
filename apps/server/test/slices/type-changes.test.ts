// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeApp, makeLicenses, makeType, refusal, single, startProgram, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { recount } from '../recount.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const year = {
  name: 'Year',
  term: 'first_use',
  duration: { value: 1, unit: 'years' },
  graceDays: 7,
  devices: 3,
  seatTimeoutSeconds: 300,
  features: ['pro'],
  updatesForDays: 365,
  trial: false,
}
const month = {
  name: 'Month',
  term: 'first_use',
  duration: { value: 1, unit: 'months' },
  features: ['basic'],
}
const sell = async (type: string) =>
  (await owner.call('POST', '/licenses', { app: app._id, type })).json.data.license
const licenseOf = async (id: string) => {
  const { grants: _, ...license } = (await owner.call('GET', `/licenses/${id}`)).json.data.license
  return license
}
const change = (id: string, body: object) => owner.call('PUT', `/licenses/${id}`, body)
const changed = async (id: string, body: object) => {
  const answer = await change(id, body)
  expect(answer.status).toBe(200)
  return answer.json.data.license
}
const records = async (id: string) =>
  (await owner.call('GET', `/audit?subject=${id}`)).json.data.records as { action: string; detail: object }[]
const login = { username: 'ada', password: 'swordfish', hwid: 'pc-1' }
async function register(licenseKey: string) {
  const program = await startProgram(on, app)
  const answer = await program.call('POST', '/register', { ...login, licenseKey })
  expect(answer.status).toBe(200)
  return { program, user: answer.json.data.user as { _id: string } }
}
const clientOf = async (id: string) => (await owner.call('GET', `/clients/${id}`)).json.data.client
const expectCounts = async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
}
const after = (iso: string, days: number) => new Date(Date.parse(iso) + days * day).toISOString()

test('a license takes the terms of a type, and its record says what was before', async () => {
  const type = await makeType(owner, app, year)
  const { _id } = single(await makeLicenses(on, owner, app))
  const before = await licenseOf(_id)
  const license = await changed(_id, { type: type._id, note: 'Order 17' })
  const { name, ...terms } = year
  expect(license).toMatchObject({
    ...terms,
    expiresAt: null,
    startedAt: null,
    note: 'Order 17',
    type: { _id: type._id, name },
  })
  expect(await licenseOf(_id)).toEqual(license)
  const [noted, ends, updated] = await records(_id)
  expect(noted).toMatchObject({ action: 'license.updated', detail: { after: { note: 'Order 17' } } })
  expect(ends).toMatchObject({
    action: 'license.expiry_changed',
    detail: { before: Date.parse(before.expiresAt), after: null },
  })
  expect(updated).toMatchObject({
    action: 'license.updated',
    detail: {
      before: { type: null, term: 'date', devices: 1, graceDays: 0 },
      after: { type: 'Year', term: 'first_use', devices: 3, graceDays: 7 },
    },
  })
})

test('a started license keeps its start, and its end user gets the new end and rights at once', async () => {
  const [short, long] = [await makeType(owner, app, month), await makeType(owner, app, year)]
  const { _id, key } = await sell(short._id)
  const { program, user } = await register(key)
  const { startedAt } = await licenseOf(_id)
  const license = await changed(_id, { type: long._id })
  const end = new Date(startedAt)
  end.setUTCFullYear(end.getUTCFullYear() + 1)
  expect(license).toMatchObject({ startedAt, expiresAt: end.toISOString() })
  expect(await clientOf(user._id)).toMatchObject({ expiresAt: end.toISOString(), graceDays: 7 })
  const session = (await program.call('GET', '/session')).json.data.user
  expect(session).toMatchObject({ features: ['pro'], devices: { limit: 3 }, expiresAt: end.toISOString() })
  await expectCounts()
})

test('an end comes no earlier unless the call says so, and a call can keep it', async () => {
  const [short, long] = [await makeType(owner, app, month), await makeType(owner, app, year)]
  const { _id, key } = await sell(long._id)
  const { user } = await register(key)
  const { expiresAt, startedAt } = await licenseOf(_id)
  expect(await changed(_id, { type: short._id })).toMatchObject({
    expiresAt,
    features: ['basic'],
    graceDays: 0,
  })
  expect(await clientOf(user._id)).toMatchObject({ expiresAt, graceDays: 0 })
  expect(await changed(_id, { type: long._id, end: 'keep' })).toMatchObject({ expiresAt, graceDays: 7 })
  const shorter = await changed(_id, { type: short._id, end: 'type' })
  expect(Date.parse(shorter.expiresAt)).toBeLessThan(Date.parse(expiresAt))
  expect(shorter.startedAt).toBe(startedAt)
  expect(await clientOf(user._id)).toMatchObject({ expiresAt: shorter.expiresAt })
  await expectCounts()
})

test('counts a date from the creation, and gives a type that never ends no end', async () => {
  const date = await makeType(owner, app, {
    name: 'Date',
    term: 'date',
    duration: { value: 90, unit: 'days' },
  })
  const life = await makeType(owner, app, { name: 'Lifetime', term: 'forever', duration: null })
  const { _id } = single(await makeLicenses(on, owner, app))
  const { createdAt } = await licenseOf(_id)
  expect(await changed(_id, { type: date._id })).toMatchObject({
    term: 'date',
    expiresAt: after(createdAt, 90),
  })
  expect(await changed(_id, { type: life._id })).toMatchObject({
    term: 'forever',
    duration: null,
    expiresAt: null,
  })
  expect(await changed(_id, { type: date._id })).toMatchObject({
    term: 'forever',
    duration: null,
    expiresAt: null,
  })
  expect(await changed(_id, { type: date._id, end: 'type' })).toMatchObject({
    expiresAt: after(createdAt, 90),
  })
})

test('an end that has passed ends access now', async () => {
  const short = await makeType(owner, app, { ...month, duration: { value: 1, unit: 'days' } })
  const { _id, key } = await sell((await makeType(owner, app, year))._id)
  await register(key)
  on.clock.advance(2 * day)
  const { status, expiresAt } = await changed(_id, { type: short._id, end: 'type' })
  expect([status, Date.parse(expiresAt)]).toEqual(['expired', on.clock.now()])
})

test('a dry run returns the license as it would be, and saves nothing', async () => {
  const type = await makeType(owner, app, year)
  const { _id, key } = await sell((await makeType(owner, app, month))._id)
  await register(key)
  const before = await licenseOf(_id)
  const recorded = (await records(_id)).length
  const preview = await changed(_id, { type: type._id, end: 'type', dryRun: true })
  expect([await licenseOf(_id), (await records(_id)).length]).toEqual([before, recorded])
  expect(await changed(_id, { type: type._id, end: 'type' })).toEqual(preview)
})

test('time of an added key still counts, and its ban takes it back', async () => {
  const [short, long] = [await makeType(owner, app, month), await makeType(owner, app, year)]
  const first = await sell(short._id)
  const { program, user } = await register(first.key)
  const extra = single(await makeLicenses(on, owner, app))
  const upgrade = await program.call('POST', '/upgrade', { username: login.username, licenseKey: extra.key })
  expect(upgrade.status).toBe(200)
  const addedMs = Date.parse((await clientOf(user._id)).expiresAt) - monthAfter(1)
  const { expiresAt } = await changed(first._id, { type: long._id, end: 'type' })
  expect(Date.parse(expiresAt)).toBe(monthAfter(12) + addedMs)
  expect(await clientOf(user._id)).toMatchObject({ expiresAt })
  await owner.call('PATCH', `/licenses/${extra._id}/toggle-ban`, { is_banned: true })
  expect(Date.parse((await clientOf(user._id)).expiresAt)).toBe(monthAfter(12))
  // The type of the added key gives its rights, and moves no end of the end user.
  await owner.call('PATCH', `/licenses/${extra._id}/toggle-ban`, { is_banned: false })
  await changed(extra._id, {
    type: (
      await makeType(owner, app, { name: 'Extra', term: 'forever', duration: null, features: ['extra'] })
    )._id,
  })
  expect(await clientOf(user._id)).toMatchObject({ expiresAt })
  const session = (await program.call('GET', '/session')).json.data.user
  expect(session.features.toSorted()).toEqual(['extra', 'pro'])
  await expectCounts()

  function monthAfter(months: number) {
    const end = new Date(on.clock.now())
    end.setUTCMonth(end.getUTCMonth() + months)
    return end.getTime()
  }
})

test.each([
  ['later', 12],
  ['type', 12],
  ['keep', 1],
])('the end that comes back when a key that never ends is banned follows "%s"', async (end, months) => {
  const [short, long] = [await makeType(owner, app, month), await makeType(owner, app, year)]
  const { first, extra, user } = await upgradeForLife(short._id)
  const edit = { type: long._id, end, seen: { type: short._id } }
  expect(await changed(first._id, edit)).toMatchObject({ expiresAt: null, graceDays: 7 })
  expect((await change(first._id, edit)).status).toBe(200)
  expect(await changed(first._id, { type: short._id })).toMatchObject({ expiresAt: null, graceDays: 0 })
  await owner.call('PATCH', `/licenses/${extra._id}/toggle-ban`, { is_banned: true })
  const expected = new Date(on.clock.now())
  expected.setUTCMonth(expected.getUTCMonth() + months)
  expect((await clientOf(user._id)).expiresAt).toBe(expected.toISOString())
})

test.each(['later', 'type'])(
  'a type that never ends outlives the ban of a key that never ends ("%s")',
  async (end) => {
    const life = await makeType(owner, app, { name: 'Lifetime', term: 'forever', duration: null })
    const { first, extra, user } = await upgradeForLife((await makeType(owner, app, month))._id)
    await changed(first._id, { type: life._id, end })
    await owner.call('PATCH', `/licenses/${extra._id}/toggle-ban`, { is_banned: true })
    expect(await clientOf(user._id)).toMatchObject({ expiresAt: null })
    await owner.call('PATCH', `/licenses/${extra._id}/toggle-ban`, { is_banned: false })
    await owner.call('DELETE', `/licenses/${extra._id}`)
    expect(await clientOf(user._id)).toMatchObject({ expiresAt: null })
  },
)

async function upgradeForLife(type: string) {
  const first = await sell(type)
  const { program, user } = await register(first.key)
  const made = await owner.call('POST', '/licenses', { app: app._id, expiresAt: null })
  const extra = made.json.data.license as { _id: string; key: string }
  const body = { username: login.username, licenseKey: extra.key }
  expect((await program.call('POST', '/upgrade', body)).status).toBe(200)
  return { first, extra, user }
}

test('a paused end user keeps the time that is left', async () => {
  const [short, long] = [await makeType(owner, app, month), await makeType(owner, app, year)]
  const { _id, key } = await sell(long._id)
  const { user } = await register(key)
  await owner.call('PATCH', `/clients/${user._id}/toggle-pause`, { paused: true })
  on.clock.advance(2 * day)
  const { expiresAt } = await licenseOf(_id)
  expect(await changed(_id, { type: short._id })).toMatchObject({ expiresAt })
  expect(await clientOf(user._id)).toMatchObject({ paused: true, expiresAt })
})

test('changes nothing if what the caller saw has changed, unless to the same', async () => {
  const [short, long] = [await makeType(owner, app, month), await makeType(owner, app, year)]
  const { _id, key } = await sell(short._id)
  await register(key)
  const { expiresAt } = await licenseOf(_id)
  const edit = { type: long._id, seen: { type: short._id, expiresAt, term: 'first_use', devices: 1 } }
  await changed(_id, edit)
  expect((await change(_id, edit)).status).toBe(200)
  const now = await changed(_id, { expiresAt: on.clock.inDays(900) })
  expect(refusal(await change(_id, { ...edit, end: 'type' }))).toBe('license_changed')
  expect(await licenseOf(_id)).toMatchObject(now)
  expect(refusal(await change(_id, { type: short._id, seen: { type: null } }))).toBe('license_changed')
})

test('32 changes at once leave one type with all of its terms', async () => {
  const types = [await makeType(owner, app, month), await makeType(owner, app, year)]
  const { _id, key } = await sell(types[0]!._id)
  const { user } = await register(key)
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, at) => change(_id, { type: types[at % 2]!._id, end: 'type' })),
  )
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  const license = await licenseOf(_id)
  const type = license.type.name === 'Year' ? year : month
  expect(license).toMatchObject(
    type === year ? { ...terms(year) } : { features: ['basic'], devices: 1, graceDays: 0 },
  )
  expect(await clientOf(user._id)).toMatchObject({
    expiresAt: license.expiresAt,
    graceDays: license.graceDays,
  })
  await expectCounts()

  function terms({ name: _, ...rest }: typeof year) {
    return rest
  }
})

test('one of 32 callers that saw the same type changes it', async () => {
  const types = await Promise.all(
    Array.from({ length: 32 }, (_, at) => makeType(owner, app, { ...year, name: `Type ${at}` })),
  )
  const { _id } = single(await makeLicenses(on, owner, app))
  const answers = await Promise.all(
    types.map((type) => change(_id, { type: type._id, seen: { type: null } })),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(31)
})

test('answers the type of another app like a missing one', async () => {
  const { _id } = single(await makeLicenses(on, owner, app))
  const other = await makeType(owner, await makeApp(owner), year)
  for (const type of [other._id, 'lty_missing']) {
    for (const dryRun of [true, undefined]) expect((await change(_id, { type, dryRun })).status).toBe(404)
  }
})

test.each([
  ['no type', { type: null }],
  ['a date', { expiresAt: '2030-01-01' }],
  ['devices', { devices: 2 }],
  ['features', { features: [] }],
])('rejects a type together with %s', async (_name, more) => {
  const { _id } = single(await makeLicenses(on, owner, app))
  const type = await makeType(owner, app, year)
  expect(wrongFields(await change(_id, { type: type._id, ...more }))).toEqual(['type'])
})

test('rejects an end or a dry run without a type', async () => {
  const { _id } = single(await makeLicenses(on, owner, app))
  for (const more of [{ end: 'keep' }, { dryRun: true }]) {
    expect(wrongFields(await change(_id, { note: 'x', ...more }))).toEqual(['type'])
  }
})
