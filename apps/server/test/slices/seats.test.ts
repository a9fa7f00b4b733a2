import { describe, expect, test } from 'vitest'
import { hour, minute, second } from '../../src/core/clock.ts'
import { ProgramSessions } from '../../src/modules/program/sessions/sessions.ts'
import { makeLicenses, type Program, refusal, single, startProgram } from '../actors.ts'
import { sentParts, setLicense } from '../devices.ts'
import { appForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { type Answer, transactionsOn } from '../harness.ts'
import { rounds } from '../rounds.ts'

const on = serverForAll({}, { gateSizes: { requests: { running: 600, waiting: 0 } } })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

/** A floating license, and sign-ins from machines. */
async function floating(seats: number, timeoutSeconds = 600) {
  const license = single(await makeLicenses(on, owner, app))
  await setLicense(on, license, { seats, seat_timeout_seconds: timeoutSeconds })
  const signIn = async (hwid?: string, device?: object) => {
    const program = await startProgram(on, app)
    return {
      program,
      answer: await program.call('POST', '/license', { licenseKey: license.key, hwid, device }),
    }
  }
  const seated = async (hwid?: string, device?: object) => {
    const { program, answer } = await signIn(hwid, device)
    expect(answer.status).toBe(200)
    return program
  }
  return { license, signIn, seated }
}
const session = (program: Program) => program.call('GET', '/session')
const held = async (license: { _id: string }) => {
  const rows = await on.database.db
    .selectFrom('seats')
    .select('holder')
    .where('license_id', '=', license._id)
    .where('until', '>', on.clock.now())
    .execute()
  return new Set(rows.map(({ holder }) => holder)).size
}
const iso = (ms: number) => new Date(on.clock.now() + ms).toISOString()

test('all seats are in use until one is returned', async () => {
  const { signIn, seated } = await floating(2)
  const first = await seated('pc-1')
  await seated('pc-2')
  const third = await signIn('pc-3')
  expect(refusal(third.answer)).toBe('noSeats')
  expect(third.answer.json.message).toBe('All seats are in use')
  expect(third.answer.json.details).toMatchObject({
    devices: { used: 2, limit: -1 },
    seats: { used: 2, limit: 2 },
    until: iso(10 * minute),
  })
  expect(refusal(await session(third.program))).toBe('sessionUnauthed')
  await first.call('POST', '/logout', {})
  const { answer } = await signIn('pc-3')
  expect(answer.json.data.user).toMatchObject({ seat: { until: iso(10 * minute) }, devices: { limit: -1 } })
})

test('a device has one seat, however many programs it runs', async () => {
  const { license, seated } = await floating(1)
  const programs = [await seated('pc-1'), await seated('pc-1'), await seated('pc-1')]
  expect(await held(license)).toBe(1)
  await programs[0]!.call('POST', '/logout', {})
  expect(await held(license)).toBe(1)
  for (const program of programs.slice(1)) expect((await session(program)).status).toBe(200)
})

test('programs without a hardware id have a seat each', async () => {
  const { signIn, seated } = await floating(2)
  await seated()
  await seated()
  expect(refusal((await signIn()).answer)).toBe('noSeats')
})

test('a copied hardware id takes a seat of its own if the parts differ', async () => {
  const { signIn, seated } = await floating(1)
  const machine = (at: number) => ({
    parts: sentParts(app, { machine: 'guid', board: `b${at}`, disk: `d${at}`, network: `n${at}` }),
  })
  await seated('copied', machine(1))
  expect(refusal((await signIn('copied', machine(2))).answer)).toBe('noSeats')
})

describe('a seat that is not renewed', () => {
  test('is taken over after the timeout, and its former program is refused', async () => {
    const { signIn, seated } = await floating(1, 60)
    const first = await seated('pc-1')
    on.clock.advance(minute - 1)
    expect(refusal((await signIn('pc-2')).answer)).toBe('noSeats')
    on.clock.advance(1)
    const second = await seated('pc-2')
    expect(refusal(await session(first))).toBe('noSeats')
    await second.call('POST', '/logout', {})
    expect((await session(first)).json.data.user.seat).toEqual({ until: iso(minute) })
  })

  test('is deleted by the housekeeping', async () => {
    const { license, seated } = await floating(1, 60)
    await seated('pc-1')
    const stored = () =>
      on.database.db.selectFrom('seats').select('until').where('license_id', '=', license._id).execute()
    on.clock.advance(minute - 1)
    await tidyUp(on)
    expect(await stored()).toHaveLength(1)
    on.clock.advance(1)
    await tidyUp(on)
    expect(await stored()).toEqual([])
  })
})

describe('a seat with a lease', () => {
  const lease = async (program: Program, hwid: string) =>
    expect((await program.call('POST', '/lease', { hwid })).status).toBe(200)

  test('stays taken after a logout until the lease has ended', async () => {
    const { signIn, seated } = await floating(1, 600)
    const first = await seated('pc-1')
    await lease(first, 'pc-1')
    await first.call('POST', '/logout', {})
    const refused = (await signIn('pc-2')).answer
    expect(refusal(refused)).toBe('noSeats')
    expect(refused.json.details.until).toBe(iso(10 * minute))
    on.clock.advance(10 * minute - 1)
    expect(refusal((await signIn('pc-2')).answer)).toBe('noSeats')
    on.clock.advance(1)
    await seated('pc-2')
  })

  test('stays that of its device, which signs in again', async () => {
    const { license, seated } = await floating(1)
    const first = await seated('pc-1')
    await lease(first, 'pc-1')
    await first.call('POST', '/logout', {})
    await seated('pc-1')
    expect(await held(license)).toBe(1)
  })

  test('stays taken when its session signs in on other machines and with other keys', async () => {
    const { license, signIn, seated } = await floating(2)
    const program = await seated('pc-1')
    await lease(program, 'pc-1')
    const again = (hwid: string, licenseKey = license.key) =>
      program.call('POST', '/license', { licenseKey, hwid })
    expect((await again('pc-2')).status).toBe(200)
    await lease(program, 'pc-2')
    expect(refusal(await again('pc-3'))).toBe('noSeats')
    const other = single(await makeLicenses(on, owner, app))
    expect((await again('pc-2', other.key)).status).toBe(200)
    expect(refusal((await signIn('pc-3')).answer)).toBe('noSeats')
  })

  test('stays taken when a program frees the device', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceSelfService: true } })
    const { signIn, seated } = await floating(1)
    const program = await seated('pc-1')
    await lease(program, 'pc-1')
    const [device] = (await program.call('GET', '/devices')).json.data.devices
    expect((await program.call('DELETE', `/devices/${device._id}`)).status).toBe(200)
    await program.call('POST', '/logout', {})
    expect(refusal((await signIn('pc-2')).answer)).toBe('noSeats')
  })

  test.each(['reset-hwid', 'free', 'delete', 'delete in bulk'])(
    'is free at once after the owner did %s',
    async (act) => {
      const { signIn, seated } = await floating(1)
      const program = await seated('pc-1')
      await lease(program, 'pc-1')
      await program.call('POST', '/logout', {})
      expect(refusal((await signIn('pc-2')).answer)).toBe('noSeats')
      const [user] = (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients
      const [device] = (await owner.call('GET', `/clients/${user._id}/devices`)).json.data.devices
      const acts: Record<string, () => Promise<Answer>> = {
        free: () => owner.call('DELETE', `/clients/${user._id}/devices/${device._id}`),
        'reset-hwid': () => owner.call('PATCH', `/clients/${user._id}/reset-hwid`),
        delete: () => owner.call('DELETE', `/clients/${user._id}`),
        'delete in bulk': () => owner.call('POST', '/clients/bulk', { action: 'delete', ids: [user._id] }),
      }
      const { status } = await acts[act]!()
      expect(status).toBe(200)
      await seated('pc-2')
    },
  )

  test('is free at once after the owner freed a device that got its lease under another hardware id', async () => {
    const { seated } = await floating(2)
    const parts = (system: string) => ({
      parts: sentParts(app, { machine: system, board: 'b', disk: 'd', network: 'n' }),
    })
    const before = await seated('pc-1', parts('before'))
    await lease(before, 'pc-1')
    const after = await seated('reinstalled', parts('after'))
    for (const program of [before, after]) await program.call('POST', '/logout', {})
    const [user] = (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients
    const [device] = (await owner.call('GET', `/clients/${user._id}/devices`)).json.data.devices
    expect((await owner.call('DELETE', `/clients/${user._id}/devices/${device._id}`)).status).toBe(200)
    for (const hwid of ['pc-2', 'pc-3']) await seated(hwid)
  })

  test('is deleted by the housekeeping once the lease has ended', async () => {
    const { license, seated } = await floating(1, 60)
    await lease(await seated('pc-1'), 'pc-1')
    const stored = () =>
      on.database.db
        .selectFrom('leased_seats')
        .select('until')
        .where('license_id', '=', license._id)
        .execute()
    on.clock.advance(minute - 1)
    await tidyUp(on)
    expect(await stored()).toHaveLength(1)
    on.clock.advance(1)
    await tidyUp(on)
    expect(await stored()).toEqual([])
  })

  const [places, machines] = [rounds(2, 8), rounds(12, 60)]

  test(`lets ${machines} concurrent sign-ins, leases and logouts have no more machines than ${places} seats`, async () => {
    const [seats, size] = [places, machines]
    const { license } = await floating(seats)
    const programs: Program[] = []
    while (programs.length < size) programs.push(await startProgram(on, app))
    const leased = await Promise.all(
      programs.map(async (program, at) => {
        const hwid = `pc-${at}`
        await program.call('POST', '/license', { licenseKey: license.key, hwid })
        const [answer] = await Promise.all([
          program.call('POST', '/lease', { hwid }),
          program.call('POST', '/logout', {}),
        ])
        return answer.status === 200
      }),
    )
    expect(leased.filter(Boolean).length).toBeLessThanOrEqual(seats)
  })
})

test('a session that signs in with another key returns the seat', async () => {
  const { signIn, seated } = await floating(1)
  const program = await seated('pc-1')
  expect(refusal((await signIn('pc-2')).answer)).toBe('noSeats')
  const other = single(await makeLicenses(on, owner, app))
  expect((await program.call('POST', '/license', { licenseKey: other.key, hwid: 'pc-1' })).status).toBe(200)
  await seated('pc-2')
})

test('a late renewal does not take back a seat that another program has taken over', async () => {
  const { license, seated } = await floating(1, 60)
  await seated('pc-1')
  const [row] = await on.database.db
    .selectFrom('seats')
    .selectAll()
    .where('license_id', '=', license._id)
    .execute()
  const { clock, seal, database } = on
  const sessions = new ProgramSessions({ clock, seal, tx: transactionsOn(database, clock) }, (error) =>
    expect(error).toBeUndefined(),
  )
  on.clock.advance(50 * second)
  sessions.renewSeat({ id: row!.session_id }, row!.until, minute)
  on.clock.advance(10 * second)
  await seated('pc-2')
  await sessions.flush()
  expect(await held(license)).toBe(1)
})

test('a seat is written again only once a quarter of its timeout has passed', async () => {
  const { license, seated } = await floating(1, 400)
  await seated('pc-1')
  const read = () =>
    on.database.db
      .selectFrom('seats')
      .selectAll()
      .where('license_id', '=', license._id)
      .executeTakeFirstOrThrow()
  const row = await read()
  const { clock, seal, database } = on
  const sessions = new ProgramSessions({ clock, seal, tx: transactionsOn(database, clock) }, (error) =>
    expect(error).toBeUndefined(),
  )
  const renew = async () => {
    sessions.renewSeat({ id: row.session_id }, row.until, 400 * second)
    await sessions.flush()
    return (await read()).until
  }
  on.clock.advance(99 * second)
  expect(await renew()).toBe(row.until)
  on.clock.advance(second)
  expect(await renew()).toBe(row.until + 100 * second)
})

test('session renews a seat, and writes at most every quarter of the timeout', async () => {
  const { signIn, seated } = await floating(1, 400)
  const program = await seated('pc-1')
  const until = async () => Date.parse((await session(program)).json.data.user.seat.until)
  const begun = on.clock.now()
  on.clock.advance(99 * second)
  expect(await until()).toBe(begun + 400 * second)
  on.clock.advance(2 * second)
  await session(program)
  await expect.poll(until).toBe(begun + 501 * second)
  on.clock.advance(399 * second)
  expect(refusal((await signIn('pc-2')).answer)).toBe('noSeats')
})

test('a license with fewer seats than before refuses the next program, and keeps those that renew', async () => {
  const { license, signIn, seated } = await floating(3)
  const programs = [await seated('pc-1'), await seated('pc-2')]
  await setLicense(on, license, { seats: 1 })
  expect(refusal((await signIn('pc-3')).answer)).toBe('noSeats')
  for (const program of programs) expect((await session(program)).status).toBe(200)
})

test('other refusals come first, and take no seat', async () => {
  const { license, signIn, seated } = await floating(1)
  await seated('pc-1')
  await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
  expect(refusal((await signIn('pc-2')).answer)).toBe('keyBanned')
})

const [seats, size] = [rounds(4, 50), rounds(16, 500)]

test(`${size} concurrent programs never take more than ${seats} seats, also when those that stopped renewing return`, async () => {
  const { license } = await floating(seats, 60)
  // Like the SDK, a program tries again when the database is too busy to answer.
  const settled = async (send: () => Promise<Answer>): Promise<Answer> => {
    const answer = await send()
    return answer.status < 500 ? answer : settled(send)
  }
  const started: Program[] = []
  while (started.length < 2 * size) started.push(await startProgram(on, app))
  const run = async (programs: Program[], send: (program: Program, at: number) => Promise<Answer>) => {
    const answers = await Promise.all(programs.map((program, at) => settled(() => send(program, at))))
    const granted = programs.filter((_, at) => answers[at]?.status === 200)
    const refusals = answers.filter(({ status }) => status !== 200).map(refusal)
    expect(refusals.filter((code) => code !== 'noSeats')).toEqual([])
    expect(await held(license)).toBeLessThanOrEqual(seats)
    return granted
  }
  const signIn = (from: number) => (program: Program, at: number) =>
    program.call('POST', '/license', { licenseKey: license.key, hwid: `pc-${from + at}` })

  const first = await run(started.slice(0, size), signIn(0))
  expect(first).toHaveLength(seats)
  on.clock.advance(minute)
  expect(await run(started.slice(size), signIn(size))).toHaveLength(seats)
  // The programs that stopped renewing return at once, and find all seats taken.
  expect(await run(first, session)).toEqual([])
  on.clock.advance(hour)
  expect(await run(first, session)).toHaveLength(seats)
  expect(await held(license)).toBe(seats)
})
