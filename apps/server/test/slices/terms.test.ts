// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeApp, makePremium, refusal, signUp, single, startProgram } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { recount } from '../recount.ts'
import { days, type Terms, termTable } from '../term-table.ts'

const on = serverForAll()
const goTo = (time: string) => on.clock.advance(Date.parse(time) - on.clock.now())

/** Owners outlive the jumps of the clock. */
async function keepSignedIn() {
  const now = on.clock.now()
  await on.database.db
    .updateTable('owner_sessions')
    .set({ created_at: now, expires_at: now + day })
    .execute()
}

/** Sells a license; grace days are set as a license type sets them. */
async function sell({ grace = 0, ...term }: Terms) {
  const owner = await signUp(on)
  const app = await makeApp(owner)
  const { status, json } = await owner.call('POST', '/licenses', { app: app._id, ...term })
  expect(status).toBe(201)
  const { license } = json.data
  const ends = license.expiresAt === null ? {} : { expires_at: Date.parse(license.expiresAt) + grace * day }
  if (grace > 0) {
    await on.database.db
      .updateTable('licenses')
      .set({ grace_days: grace, ...ends })
      .where('id', '=', license._id)
      .execute()
  }
  return { owner, app, license: license as { _id: string; key: string; expiresAt: string | null } }
}

test.each(termTable)(
  'sold %j at %s, used at %s and seen at %s expires at %s: %s',
  async (terms, soldAt, usedAt, seenAt, expiresAt, state) => {
    goTo(soldAt)
    const { owner, app, license } = await sell(terms)
    const activate = async () =>
      (await startProgram(on, app)).call('POST', '/license', { licenseKey: license.key })
    if (usedAt !== null) {
      goTo(usedAt)
      const { status, json } = await activate()
      expect(status).toBe(200)
      expect(json.data.user).toMatchObject({ expiresAt, inGrace: false })
    }
    goTo(seenAt)
    await keepSignedIn()
    const shown = { expiresAt, inGrace: state === 'grace' }
    const status = state === 'grace' ? 'active' : state
    const listed = async (noun: 'licenses' | 'clients', filter: string) =>
      (await owner.call('GET', `/${noun}?app=${app._id}&status=${filter}`)).json.data
    for (const filter of ['unused', 'active', 'expired'] as const) {
      const { licenses, stats } = await listed('licenses', filter)
      expect(licenses).toMatchObject(filter === status ? [{ ...shown, status }] : [])
      expect(stats).toMatchObject({ total: 1, [filter]: filter === status ? 1 : 0 })
      if (usedAt === null || filter === 'unused') continue
      const { clients, stats: counts } = await listed('clients', filter)
      expect(clients).toMatchObject(filter === status ? [{ ...shown, status }] : [])
      expect(counts).toMatchObject({ total: 1, [filter]: filter === status ? 1 : 0 })
    }
    const { data } = (
      await on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: license.key } })
    ).json
    expect(data).toMatchObject({ valid: status !== 'expired', license: shown })
    if (status === 'expired') return expect(refusal(await activate())).toBe('noActiveSubs')
    if (usedAt !== null) expect((await activate()).json.data.user).toMatchObject(shown)
  },
)

test('counts by triggers agree with the rows of every term', async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

test('reads of a key do not start its clock', async () => {
  goTo('2026-01-01T00:00Z')
  const { owner, app, license } = await sell(days(30))
  await on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: license.key } })
  await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
  const program = await startProgram(on, app)
  expect(refusal(await program.call('POST', '/license', { licenseKey: license.key }))).toBe('keyBanned')
  await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
  on.clock.advance(100 * day)
  await keepSignedIn()
  const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
  expect(single(licenses)).toMatchObject({ status: 'unused', startedAt: null, expiresAt: null })
})

test('a paused app refuses the first use without starting the clock', async () => {
  goTo('2026-01-01T00:00Z')
  const { owner, app, license } = await sell(days(30))
  const program = await startProgram(on, app)
  await owner.call('PUT', `/apps/${app._id}`, { paused: true })
  expect(refusal(await program.call('POST', '/license', { licenseKey: license.key }))).toBe('pausedApp')
  const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
  expect(single(licenses)).toMatchObject({ status: 'unused', startedAt: null })
})

test('a license that is used again after its end user was deleted keeps its clock', async () => {
  goTo('2026-01-01T00:00Z')
  const { owner, app, license } = await sell(days(30))
  const use = async () => (await startProgram(on, app)).call('POST', '/license', { licenseKey: license.key })
  const first = (await use()).json.data.user
  await owner.call('DELETE', `/clients/${first._id}`)
  on.clock.advance(10 * day)
  await keepSignedIn()
  const [freed] = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
  expect(freed).toMatchObject({
    status: 'unused',
    startedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: first.expiresAt,
  })
  expect((await use()).json.data.user.expiresAt).toBe(first.expiresAt)
  expect((await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses).toMatchObject([
    { term: 'first_use', duration: { value: 30, unit: 'days' }, startedAt: freed.startedAt },
  ])
})

test('a clock that goes back shortens nothing that was stored', async () => {
  goTo('2026-01-10T00:00Z')
  const { owner, app, license } = await sell(days(30))
  const program = await startProgram(on, app)
  const { user } = (await program.call('POST', '/license', { licenseKey: license.key })).json.data
  on.clock.advance(-5 * day)
  await keepSignedIn()
  expect((await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses).toMatchObject([
    { status: 'active', expiresAt: user.expiresAt },
  ])
})

test.each<[string, object]>([
  ['neither an expiry nor a duration', {}],
  ['an expiry and a duration', { expiresAt: '9000-01-01', duration: { value: 1, unit: 'days' } }],
  ['null and a duration', { expiresAt: null, duration: { value: 1, unit: 'days' } }],
  ['a duration of nothing', { duration: { value: 0, unit: 'days' } }],
  ['a negative duration', { duration: { value: -1, unit: 'days' } }],
  ['a part of a day', { duration: { value: 1.5, unit: 'days' } }],
  ['more than 100 years', { duration: { value: 101, unit: 'years' } }],
  ['more than 100 years of months', { duration: { value: 1201, unit: 'months' } }],
  ['more hours than a number holds', { duration: { value: 1e300, unit: 'hours' } }],
  ['an unknown unit', { duration: { value: 1, unit: 'weeks' } }],
  ['a text for a duration', { duration: '30 days' }],
])('rejects %s', async (_name, body) => {
  goTo('2026-01-01T00:00Z')
  const owner = await signUp(on)
  const app = await makeApp(owner)
  expect(refusal(await owner.call('POST', '/licenses', { app: app._id, ...body }))).toBe('invalid_input')
})

test('one of 32 concurrent first uses starts the clock', async () => {
  goTo('2026-01-01T00:00Z')
  const { owner, app, license } = await sell(days(30))
  await makePremium(on, owner)
  const programs = await Promise.all(Array.from({ length: 32 }, () => startProgram(on, app)))
  const answers = await Promise.all(
    programs.map((program, at) =>
      at % 2 === 0
        ? program.call('POST', '/license', { licenseKey: license.key })
        : program.call('POST', '/register', {
            username: `user${at}`,
            password: 'swordfish',
            licenseKey: license.key,
          }),
    ),
  )
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  expect(single(clients)).toMatchObject({ expiresAt: '2026-01-31T00:00:00.000Z' })
  for (const { status, json } of answers) {
    if (status === 200) expect(json.data.user.expiresAt).toBe('2026-01-31T00:00:00.000Z')
    else expect(json.code).toBe('keyUsed')
  }
  expect((await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses).toMatchObject([
    { used: true, startedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-31T00:00:00.000Z' },
  ])
})

test('a first use and a new date at the same time leave the end user and the license with one end', async () => {
  for (const _round of Array.from({ length: 8 })) {
    goTo('2026-01-01T00:00Z')
    const { owner, app, license } = await sell(days(30))
    const program = await startProgram(on, app)
    await Promise.all([
      program.call('POST', '/license', { licenseKey: license.key }),
      owner.call('PUT', `/licenses/${license._id}`, { expiresAt: '2027-01-01T00:00:00.000Z' }),
    ])
    const [seen] = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
    expect(seen).toMatchObject({ expiresAt: '2027-01-01T00:00:00.000Z', used: true })
    expect((await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients).toMatchObject([
      { expiresAt: '2027-01-01T00:00:00.000Z' },
    ])
  }
})
