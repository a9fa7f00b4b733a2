import type { UndoRow } from '@keyward/contract'
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  refusal,
  registerUser,
  signUp,
  single,
  startProgram,
} from '../actors.ts'
import { appForAll, ownerForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { recount } from '../recount.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const free = ownerForAll(on)
const app = appForAll(owner)

type Noun = 'licenses' | 'clients'
const nouns = ['licenses', 'clients'] as const
const extend = async (noun: Noun, ids: string[], how: object, by = owner) => {
  const { status, json } = await by.call('POST', `/${noun}/bulk`, { action: 'extend', ids, ...how })
  expect([status, json.code]).toEqual([200, undefined])
  return json.data as { changed: number; undo: UndoRow[] }
}
const undo = async (noun: Noun, rows: UndoRow[], by = owner) => {
  const { status, json } = await by.call('POST', `/${noun}/bulk/undo`, { undo: rows })
  expect([status, json.code]).toEqual([200, undefined])
  return json.data as { changed: number; skipped: { _id: string; reason: string }[] }
}
const sell = async (term: object) =>
  (await owner.call('POST', '/licenses', { app: app._id, ...term })).json.data.license
const read = async (noun: Noun, id: string, by = owner) => {
  const { json } = await by.call('GET', `/${noun}/${id}`)
  // What was granted has a history of its own.
  const { grants: _, ...row } = json.data.license ?? json.data.client
  return row
}
let names = 0
const newUser = () => registerUser(on, owner, app, `ended-${++names}`)
const ofMonth = { duration: { value: 1, unit: 'months' } }

test.each(nouns)('a month for many %s is one of the calendar in the named time zone', async (noun) => {
  const users = [await newUser(), await newUser()]
  const ids = users.map(({ license, user }) => (noun === 'licenses' ? license : user)._id)
  const ends = ['2040-01-31T22:59:59.999Z', '2040-03-01T22:59:59.999Z']
  for (const [at, { license }] of users.entries()) {
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: ends[at] })
  }
  const endsOf = async () =>
    Promise.all(users.map(async ({ user }) => (await read('clients', user._id)).expiresAt))
  const inBerlin = await extend(noun, ids, { ...ofMonth, timeZone: 'Europe/Berlin' })
  // Summer time begins on March 25: the end of the day stays its end.
  expect(await endsOf()).toEqual(['2040-02-29T22:59:59.999Z', '2040-04-01T21:59:59.999Z'])
  expect((await undo(noun, inBerlin.undo)).changed).toBe(2)
  expect(await endsOf()).toEqual(ends)
  await extend(noun, ids, ofMonth)
  expect(await endsOf()).toEqual(['2040-02-29T22:59:59.999Z', '2040-04-01T22:59:59.999Z'])
  for (const { license, user } of users) {
    expect((await read('licenses', license._id)).expiresAt).toBe((await read('clients', user._id)).expiresAt)
  }
})

test.each(nouns)('a date for many %s shortens none by accident, and is undone exactly', async (noun) => {
  const users = [await newUser(), await newUser()]
  const [short, long] = users as [(typeof users)[0], (typeof users)[0]]
  await owner.call('PUT', `/licenses/${long.license._id}`, { expiresAt: on.clock.inDays(90) })
  const idOf = ({ license, user }: typeof short) => (noun === 'licenses' ? license : user)._id
  const ids = users.map(idOf)
  const states = async () =>
    Promise.all(
      users.flatMap(({ license, user }) => [read('licenses', license._id), read('clients', user._id)]),
    )
  const before = await states()
  const expiresAt = on.clock.inDays(60)
  const longer = await extend(noun, ids, { expiresAt })
  expect([longer.changed, longer.undo.map(({ _id }) => _id)]).toEqual([1, [idOf(short)]])
  expect((await states()).map((row) => row.expiresAt)).toEqual([
    expiresAt,
    expiresAt,
    on.clock.inDays(90),
    on.clock.inDays(90),
  ])
  expect((await undo(noun, longer.undo)).changed).toBe(1)
  expect(await states()).toEqual(before)
  const all = await extend(noun, ids, { expiresAt, shorten: true })
  expect(all.changed).toBe(2)
  expect((await states()).map((row) => row.expiresAt)).toEqual(Array(4).fill(expiresAt))
  expect((await undo(noun, all.undo)).changed).toBe(2)
  expect(await states()).toEqual(before)
  const never = await extend(noun, ids, { expiresAt: null })
  expect((await states()).map((row) => row.expiresAt)).toEqual(Array(4).fill(null))
  expect((await extend(noun, ids, { expiresAt: null })).changed).toBe(0)
  expect((await extend(noun, ids, { expiresAt })).changed).toBe(0)
  expect((await undo(noun, never.undo)).changed).toBe(2)
  expect(await states()).toEqual(before)
  expect((await undo(noun, never.undo)).changed).toBe(0)
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

test('a license that waits for its first use gets a date only when asked to, and its term back by an undo', async () => {
  const waiting = await sell({ duration: { value: 30, unit: 'days' } })
  const forever = await sell({ expiresAt: null })
  const ids = [waiting._id, forever._id]
  const states = () => Promise.all(ids.map((id) => read('licenses', id)))
  const before = await states()
  const expiresAt = on.clock.inDays(5)
  expect((await extend('licenses', ids, { expiresAt })).changed).toBe(0)
  const dated = await extend('licenses', ids, { expiresAt, shorten: true })
  expect((await states()).map(({ term }) => term)).toEqual(['date', 'date'])
  expect((await undo('licenses', dated.undo)).changed).toBe(2)
  expect(await states()).toEqual(before)
  const never = await extend('licenses', ids, { expiresAt: null })
  expect([never.changed, (await states()).map(({ term }) => term)]).toEqual([1, ['forever', 'forever']])
  await undo('licenses', never.undo)
  expect(await states()).toEqual(before)
  const one = await owner.call('PUT', `/licenses/${waiting._id}`, { expiresAt })
  expect((await undo('licenses', one.json.data.undo)).changed).toBe(1)
  expect(await states()).toEqual(before)
})

test('an undo leaves a license that was used since, whatever term it names', async () => {
  const waiting = await sell({ duration: { value: 30, unit: 'days' } })
  const { undo: rows } = await extend('licenses', [waiting._id], { expiresAt: null })
  const row = single(rows)
  await activateKey(on, owner, app)
  const program = await startProgram(on, app)
  await program.call('POST', '/license', { licenseKey: waiting.key })
  const used = await read('licenses', waiting._id)
  expect((await undo('licenses', rows)).skipped).toEqual([{ _id: waiting._id, reason: 'changed' }])
  const forged = { ...row, usedBy: used.usedBy?._id }
  const started = { ...forged, end: { ...forged.end, before: on.clock.inDays(3) } } as UndoRow
  expect((await undo('licenses', [started])).changed).toBe(0)
  expect(await read('licenses', waiting._id)).toEqual(used)
})

test.each(nouns)(
  'undoing a new end of %s gives back what added keys gave, which a ban takes again',
  async (noun) => {
    const { license, user, program } = await newUser()
    const key = single(await makeLicenses(on, owner, app, 1, 10))
    await program.call('POST', '/upgrade', { username: user.username, licenseKey: key.key })
    const end = async () => (await read('clients', user._id)).expiresAt
    const before = await end()
    const id = (noun === 'licenses' ? license : user)._id
    const { undo: rows } = await extend(noun, [id], { expiresAt: on.clock.inDays(300) })
    const foreign = single(await makeLicenses(on, owner, app))
    const forged = structuredClone(rows)
    Object.assign(forged[0]?.end ?? {}, { grant: foreign._id })
    expect((await undo(noun, forged)).changed).toBe(0)
    expect((await undo(noun, rows)).changed).toBe(1)
    expect(await end()).toBe(before)
    await owner.call('PATCH', `/licenses/${key._id}/toggle-ban`, { is_banned: true })
    expect(Date.parse(before) - Date.parse(await end())).toBe(10 * day)
    const { undo: banned } = await extend(noun, [id], { expiresAt: on.clock.inDays(300) })
    await owner.call('PATCH', `/licenses/${key._id}/toggle-ban`, { is_banned: false })
    expect((await undo(noun, banned)).changed).toBe(1)
    expect(await end()).toBe(before)
  },
)

test.each(nouns)(
  'a paused one of many %s keeps the time up to a new end, and its former time by an undo',
  async (noun) => {
    const { license, user } = await newUser()
    await owner.call('PATCH', `/clients/${user._id}/toggle-pause`, { paused: true })
    on.clock.advance(3 * day)
    const id = (noun === 'licenses' ? license : user)._id
    for (const expiresAt of [on.clock.inDays(9), null]) {
      const { undo: rows } = await extend(noun, [id], { expiresAt, shorten: true })
      on.clock.advance(2 * day)
      expect((await undo(noun, rows)).changed).toBe(1)
    }
    await owner.call('PATCH', `/clients/${user._id}/toggle-pause`, { paused: false })
    expect((await read('clients', user._id)).expiresAt).toBe(on.clock.inDays(30))
    expect((await read('licenses', license._id)).expiresAt).toBe(on.clock.inDays(30))
  },
)

test('a past date ends access now, and an undo of it keeps to the limit of the plan', async () => {
  const own = await makeApp(free)
  const made = await free.call('POST', '/clients/create-direct', {
    username: 'direct',
    password: 'swordfish',
    appId: own.appId,
    expiresAt: on.clock.inDays(30),
  })
  const id = made.json.data.client._id
  const past = new Date(on.clock.now() - day).toISOString()
  const { undo: rows } = await extend('clients', [id], { expiresAt: past, shorten: true }, free)
  expect((await read('clients', id, free)).expiresAt).toBe(on.clock.inDays(0))
  on.clock.advance(1000)
  const body = { app: own._id, expiresAt: on.clock.inDays(30), count: 30 }
  expect((await free.call('POST', '/licenses', body)).status).toBe(201)
  expect(refusal(await free.call('POST', '/clients/bulk/undo', { undo: rows }))).toBe('plan_limit_reached')
  await free.call('DELETE', `/licenses?app=${own._id}`)
  expect((await undo('clients', rows, free)).changed).toBe(1)
})

test('of many concurrent undos of a date one succeeds, and another vendor finds nothing', async () => {
  const ids = (await makeLicenses(on, owner, app, 5)).map(({ _id }: { _id: string }) => _id)
  const { undo: rows } = await extend('licenses', ids, { expiresAt: on.clock.inDays(1), shorten: true })
  const stranger = await signUp(on)
  expect(refusal(await stranger.call('POST', '/licenses/bulk/undo', { undo: rows }))).toBe('not_found')
  const body = { action: 'extend', ids, expiresAt: null }
  expect(refusal(await stranger.call('POST', '/licenses/bulk', body))).toBe('not_found')
  const answers = await Promise.all(Array.from({ length: 32 }, () => undo('licenses', rows)))
  expect(answers.reduce((sum, { changed }) => sum + changed, 0)).toBe(5)
  expect((await read('licenses', ids[0] ?? '')).expiresAt).toBe(on.clock.inDays(30))
})
