// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { Attempts, rightPasswords, trialsOfApp } from '../../src/service/attempts.ts'
import type { Ctx } from '../../src/service/ctx.ts'
import { activateKey, makeLicenses, makeType, refusal, signUp, single, startProgram } from '../actors.ts'
import { sentParts, setLicense } from '../devices.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const most = 5
const on = serverForAll({ RATE_LIMITS: 'on' }, { sessionCap: { most, oneIn: 1 } })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const sessionsOf = async ({ _id }: { _id: string }) =>
  (await on.database.db.selectFrom('client_sessions').select('id').where('client_id', '=', _id).execute())
    .length

const rowsOfApp = async () =>
  (await on.database.db.selectFrom('client_sessions').select('id').where('app_id', '=', app._id).execute())
    .length

describe('one key that signs in over and over', () => {
  const signInAgain = async (licenseKey: string) => {
    on.clock.advance(1000)
    const program = await startProgram(on, app)
    expect((await program.call('POST', '/license', { licenseKey })).status).toBe(200)
    return program
  }

  test('keeps its newest sessions; older ones end, and those of other end users stay', async () => {
    const other = await activateKey(on, owner, app)
    const first = await activateKey(on, owner, app)
    const programs = [first.program]
    for (let at = 0; at < 8; at += 1) programs.push(await signInAgain(first.license.key))
    await expect.poll(() => sessionsOf(first.user)).toBe(most)
    const statuses = []
    for (const program of programs) statuses.push((await program.call('GET', '/session')).status)
    expect(statuses.map((status) => status === 200)).toEqual([
      ...Array(4).fill(false),
      ...Array(5).fill(true),
    ])
    expect(refusal(await first.program.call('GET', '/session'))).toBe('sessionUnauthed')
    expect((await other.program.call('GET', '/session')).status).toBe(200)
  })

  test('and out again stores no more rows than that', async () => {
    const { license } = await activateKey(on, owner, app)
    for (let at = 0; at < 12; at += 1) {
      const program = await signInAgain(license.key)
      expect((await program.call('POST', '/logout')).status).toBe(200)
      expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
    }
    await expect.poll(rowsOfApp).toBe(most)
  })

  test('returns no seat of a program that runs', async () => {
    const license = single(await makeLicenses(on, owner, app))
    await setLicense(on, license, { seats: 2, seat_timeout_seconds: 86_400 })
    const seated = await signInAgain(license.key)
    for (let at = 0; at < 8; at += 1) {
      const program = await signInAgain(license.key)
      await program.call('POST', '/logout')
    }
    // Sessions with a seat do not count: this one, and the last one while it signed in.
    await expect.poll(rowsOfApp).toBeLessThanOrEqual(most + 2)
    expect((await seated.call('GET', '/session')).status).toBe(200)
  })
})

describe('trials', () => {
  const startTrial = async (hwid: string, from: string, parts = {}) => {
    const program = await startProgram(on, app)
    const body = { hwid, device: { parts: sentParts(app, parts) } }
    return program.call('POST', '/trial', body, { from })
  }

  test('of one app from all addresses end at 1,000 in an hour', async () => {
    await makeType(owner, app, { trial: true })
    const { clock, config, database } = on
    const otherNode = new Attempts({ clock, config, db: database.db } as unknown as Ctx)
    await otherNode.add(trialsOfApp, limits.trialsPerHour - 1, app._id)
    expect((await startTrial('pc-1', '203.0.113.1')).status).toBe(200)
    const refused = await startTrial('pc-2', '198.51.100.1')
    expect(refusal(refused)).toBe('rate_limited')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    // The first device keeps its own trial.
    expect((await startTrial('pc-1', '203.0.113.1')).status).toBe(200)
    on.clock.advance(hour)
    expect((await startTrial('pc-2', '198.51.100.1')).status).toBe(200)
  })

  test('remember a bounded number of changes of their device', async () => {
    await makeType(owner, app, { trial: true, devices: -1 })
    for (let at = 0; at < 40; at += 1) {
      const parts = { machine: `m${at}`, board: `b${at}`, disk: `d${at}`, network: `n${at}` }
      expect((await startTrial('pc-1', '203.0.113.1', parts)).status).toBe(200)
    }
    const marks = await on.database.db
      .selectFrom('trial_marks')
      .select('mark')
      .where('app_id', '=', app._id)
      .execute()
    expect(marks.length).toBeGreaterThan(50)
    expect(marks.length).toBeLessThanOrEqual(limits.trialMarksMax + 5)
  })
})

test('an owner that signs in over and over keeps its newest 100 sessions', async () => {
  const { email, password, token, id } = await signUp(on)
  for (let at = 0; at < limits.accountSessionsMax; at += 1) {
    on.clock.advance(1)
    expect((await on.call('POST', '/auth/login', { body: { email, password } })).status).toBe(200)
  }
  const rows = await on.database.db
    .selectFrom('owner_sessions')
    .select('id')
    .where('owner_id', '=', id)
    .execute()
  expect(rows).toHaveLength(limits.accountSessionsMax)
  expect((await on.call('GET', '/auth/profile', { token })).status).toBe(401)
})

test('an owner signs in a thousand times in an hour at most', async () => {
  const { email, password } = await signUp(on)
  const { clock, config, database } = on
  const otherNode = new Attempts({ clock, config, db: database.db } as unknown as Ctx)
  await otherNode.add(rightPasswords, rightPasswords.max - 1, `owner:${email}`)
  const signIn = () => on.call('POST', '/auth/login', { body: { email, password } })
  expect((await signIn()).status).toBe(200)
  expect(refusal(await signIn())).toBe('rate_limited')
  on.clock.advance(hour)
  expect((await signIn()).status).toBe(200)
})
