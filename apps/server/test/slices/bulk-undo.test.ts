// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { type License, limits, type UndoRow } from '@keyward/contract'
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeApp, makeLicenses, refusal, registerUser, signUp } from '../actors.ts'
import { appForAll, ownerForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { recount } from '../recount.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const other = ownerForAll(on)
const app = appForAll(owner)

type Noun = 'licenses' | 'clients'
const idsOf = (rows: { _id: string }[]) => rows.map((row) => row._id)
const bulk = async (noun: Noun, body: object) => {
  const { status, json } = await owner.call('POST', `/${noun}/bulk`, body)
  expect(status).toBe(200)
  return json.data as { changed: number; undo: UndoRow[] }
}
const undo = async (noun: Noun, rows: UndoRow[]) => {
  const { status, json } = await owner.call('POST', `/${noun}/bulk/undo`, { undo: rows })
  expect(status).toBe(200)
  return json.data
}
const read = async (noun: Noun, id: string) => {
  const { json } = await owner.call('GET', `/${noun}/${id}`)
  // What was granted has a history of its own.
  const { grants: _, ...row } = json.data.license ?? json.data.client
  return row
}
let names = 0
const newUser = () => registerUser(on, owner, app, `undone-${++names}`)
const states = async ({ license, user }: Awaited<ReturnType<typeof newUser>>) => [
  await read('licenses', license._id),
  await read('clients', user._id),
]

test.each(['licenses', 'clients'] as const)(
  'undoing an extension of %s restores both ends exactly',
  async (noun) => {
    const running = await newUser()
    const over = await newUser()
    await owner.call('PUT', `/licenses/${over.license._id}`, { expiresAt: on.clock.inDays(1) })
    on.clock.advance(2 * day)
    const before = [...(await states(running)), ...(await states(over))]
    const ids = [running, over].map(({ license, user }) => (noun === 'licenses' ? license : user)._id)
    const { undo: rows } = await bulk(noun, { action: 'extend', ids, days: 30 })
    expect(idsOf(rows)).toEqual([...ids].sort())
    on.clock.advance(1000)
    const undone = await undo(noun, rows)
    expect([undone.changed, undone.skipped]).toEqual([2, []])
    expect(idsOf(undone[noun])).toEqual(ids)
    expect([...(await states(running)), ...(await states(over))]).toEqual(before)
    const again = await undo(noun, rows)
    expect([again.changed, again.skipped]).toEqual([0, rows.map(({ _id }) => ({ _id, reason: 'changed' }))])
    const { kept, counted } = await recount(on)
    expect(kept).toEqual(counted)
  },
)

test.each(['licenses', 'clients'] as const)(
  'undoing an extension of paused %s keeps the time that was left',
  async (noun) => {
    const one = await newUser()
    await owner.call('PATCH', `/clients/${one.user._id}/toggle-pause`, { paused: true })
    on.clock.advance(3 * day)
    const id = (noun === 'licenses' ? one.license : one.user)._id
    const { undo: rows } = await bulk(noun, { action: 'extend', ids: [id], days: 9 })
    on.clock.advance(2 * day)
    expect((await undo(noun, rows)).changed).toBe(1)
    await owner.call('PATCH', `/clients/${one.user._id}/toggle-pause`, { paused: false })
    expect((await read('clients', one.user._id)).expiresAt).toBe(on.clock.inDays(30))
    expect((await read('licenses', one.license._id)).expiresAt).toBe(on.clock.inDays(30))
  },
)

test('an undo changes no row that someone changed since, and says which', async () => {
  const [moved, used, deleted, kept] = await makeLicenses(on, owner, app, 4)
  const ids = idsOf([moved, used, deleted, kept] as { _id: string }[])
  const { undo: rows } = await bulk('licenses', { action: 'extend', ids, days: 7 })
  await owner.call('PUT', `/licenses/${moved?._id}`, { expiresAt: on.clock.inDays(90) })
  const program = (await newUser()).program
  await program.call('POST', '/license', { licenseKey: used?.key })
  await owner.call('DELETE', `/licenses/${deleted?._id}`)
  const [theirs] = await makeLicenses(on, other, await makeApp(other))
  const foreign = { ...(rows[0] as UndoRow), _id: theirs?._id ?? '' }
  const undone = await undo('licenses', [...rows, foreign])
  expect(undone.changed).toBe(1)
  const reasons = new Map(undone.skipped.map((row: { _id: string; reason: string }) => [row._id, row.reason]))
  expect(reasons).toEqual(
    new Map([
      [moved?._id, 'changed'],
      [used?._id, 'changed'],
      [deleted?._id, 'missing'],
      [theirs?._id, 'missing'],
    ]),
  )
  expect((await read('licenses', moved?._id ?? '')).expiresAt).toBe(on.clock.inDays(90))
  expect((await read('licenses', kept?._id ?? '')).expiresAt).toBe(on.clock.inDays(30))
})

test.each(['licenses', 'clients'] as const)(
  'banning and unbanning %s tells what really changed, and is undone exactly',
  async (noun) => {
    const users = [await newUser(), await newUser(), await newUser()]
    const ids = users.map(({ license, user }) => (noun === 'licenses' ? license : user)._id)
    const [first = '', second = '', third = ''] = ids
    await owner.call('PATCH', `/${noun}/${first}/toggle-ban`, { is_banned: true, reason: 'Chargeback' })
    const before = await Promise.all(ids.map((id) => read(noun, id)))
    const banned = await bulk(noun, { action: 'ban', ids })
    expect([banned.changed, idsOf(banned.undo).sort()]).toEqual([2, [second, third].sort()])
    await owner.call('PATCH', `/${noun}/${third}/toggle-ban`, { is_banned: true, reason: 'Fraud' })
    const undone = await undo(noun, banned.undo)
    expect([undone.changed, undone.skipped]).toEqual([1, [{ _id: third, reason: 'changed' }]])
    expect(await read(noun, third)).toMatchObject({ banReason: 'Fraud' })
    const unbanned = await bulk(noun, { action: 'unban', ids })
    expect(unbanned.changed).toBe(2)
    expect((await undo(noun, unbanned.undo)).changed).toBe(2)
    expect(await read(noun, first)).toEqual(before[0])
    expect(await read(noun, second)).toEqual(before[1])
    expect(await read(noun, third)).toMatchObject({ banReason: 'Fraud' })
  },
)

test('of many concurrent undos, one takes back the extension, and none a later one', async () => {
  const [license] = await makeLicenses(on, owner, app)
  const id = license?._id ?? ''
  const { undo: rows } = await bulk('licenses', { action: 'extend', ids: [id], days: 5 })
  const answers = await Promise.all(Array.from({ length: 32 }, () => undo('licenses', rows)))
  expect(answers.reduce((sum, answer) => sum + answer.changed, 0)).toBe(1)
  expect((await read('licenses', id)).expiresAt).toBe(on.clock.inDays(30))
  const { undo: later } = await bulk('licenses', { action: 'extend', ids: [id], days: 5 })
  await bulk('licenses', { action: 'extend', ids: [id], days: 5 })
  expect((await undo('licenses', later)).changed).toBe(0)
  expect((await read('licenses', id)).expiresAt).toBe(on.clock.inDays(40))
})

const makeMany = {
  licenses: async () => {
    const made = await Promise.all([1, 2].map(() => makeLicenses(on, owner, app, limits.bulkMax / 2)))
    return made.flat().map(({ _id }) => _id)
  },
  clients: async () => {
    const ids: string[] = []
    for (let at = 0; at < limits.bulkMax; at += 1) {
      const user = { username: `many-${at}`, password: 'swordfish', appId: app._id }
      const body = { ...user, expiresAt: on.clock.inDays(30) }
      ids.push((await owner.call('POST', '/clients/create-direct', body)).json.data.client._id)
    }
    return ids
  },
}

test.each(['licenses', 'clients'] as const)(
  'a change of as many %s as a bulk call takes is undone at once',
  async (noun) => {
    const ids = await makeMany[noun]()
    const state = async () => {
      const answer = await owner.call('POST', `/${noun}/bulk`, { action: 'unban', ids })
      return answer.json.data[noun].map(({ expiresAt, banned }: License) => ({ expiresAt, banned }))
    }
    const before = await state()
    const changes = [
      { action: 'extend', days: 9 },
      { action: 'extend', expiresAt: on.clock.inDays(900) },
      { action: 'ban' },
    ]
    for (const body of changes) {
      const { changed, undo: rows } = await bulk(noun, { ...body, ids })
      expect([changed, rows.length]).toEqual([limits.bulkMax, limits.bulkMax])
      const undone = await undo(noun, rows)
      expect([undone.changed, undone.skipped]).toEqual([limits.bulkMax, []])
      expect(await state()).toEqual(before)
    }
  },
)

test('an undo takes one kind of change a row, a term that fits the end, and needs the right to write', async () => {
  const [license] = await makeLicenses(on, owner, app)
  const end = { before: on.clock.inDays(1), after: on.clock.inDays(30), pausedAt: null }
  const state = { banned: false, reason: null }
  const terms = (term: string) => ({
    before: { term, duration: null },
    after: { term: 'date', duration: null },
  })
  for (const row of [
    {},
    { end, ban: { before: state, after: state } },
    { end: { ...end, terms: terms('forever') } },
    { end: { ...end, terms: terms('first_use') } },
  ]) {
    const answer = await owner.call('POST', '/licenses/bulk/undo', { undo: [{ _id: license?._id, ...row }] })
    expect(refusal(answer)).toBe('invalid_input')
  }
  const viewer = await addMember(on, await signUp(on), { role: 'viewer' })
  const body = { undo: [{ _id: license?._id, end }] }
  expect(refusal(await viewer.call('POST', '/licenses/bulk/undo', body))).toBe('permission_missing')
})
