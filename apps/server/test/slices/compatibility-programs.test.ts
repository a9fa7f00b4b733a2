// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { makeLicenses, refusal, single, startProgram } from '../actors.ts'
import { makeOldApp } from '../compatibility-actor.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { encrypted } from '../old-programs/encrypted.ts'
import { cpp12, go12, python12 } from '../old-programs/keyed.ts'
import { type OldApp, OldProgram, type Sdk } from '../old-programs/program.ts'
import { oldSdks } from '../old-programs/sdks.ts'
import { cpp2026, go13, python13 } from '../old-programs/timed.ts'
import { injected, overSocket } from '../old-programs/wire.ts'
import { rounds, times } from '../rounds.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
/** Programs read the time of their own machine, which is that of this one. */
const years = 3650
const newDevice = () => `S-1-5-21-1004336348-1177238915-${Math.floor(Math.random() * 1e9)}-1001`

const programOf = (sdk: Sdk, old: OldApp, { from = '127.0.0.1', device = newDevice() } = {}) =>
  new OldProgram(sdk, old, { wire: injected(on.server, from), device })

async function started(...args: Parameters<typeof programOf>): Promise<OldProgram> {
  const program = programOf(...args)
  expect(await program.init()).toMatchObject({ success: true })
  return program
}

describe.each(oldSdks)('a program with the library $name', (sdk) => {
  test('reads every answer that it can get', async () => {
    const { app, settings } = await makeOldApp(owner)
    const [first, second, third] = await makeLicenses(on, owner, app, 3, years)
    const variables = [{ name: 'greeting', value: 'Grüße / "all"', public: false }]
    expect((await owner.call('PUT', `/apps/${app._id}/variables`, { variables })).status).toBe(200)
    const device = newDevice()
    const program = await started(sdk, settings, { device })
    const done = (type: string, fields = {}) =>
      expect(program.call(type, fields), type).resolves.toMatchObject({ success: true })
    const refused = (type: string, fields = {}) =>
      expect(program.call(type, fields), type).resolves.toMatchObject({ success: false })

    expect(await programOf(sdk, settings).init('0.9')).toMatchObject({
      success: false,
      message: 'invalidver',
    })
    for (const type of ['check', 'ban', 'setvar', 'getvar', 'changeUsername']) await refused(type)
    await refused('license', { key: 'NO-SUCH-KEY' })
    await refused('login', { username: 'nobody', pass: 'wrong' })
    await refused('login')
    const frodo = { username: 'frodo', pass: 'ring-bearer-1 & <b>50%</b>' }
    await refused('register', { ...frodo, key: 'NO-SUCH-KEY' })
    await done('register', { ...frodo, key: first?.key })
    await refused('register', { ...frodo, key: second?.key })
    await refused('login', { ...frodo, pass: 'wrong' })
    await done('login', frodo)
    await done('check')
    await done('upgrade', { username: 'frodo', key: second?.key })
    await refused('upgrade', { username: 'frodo', key: second?.key })
    await refused('checkblacklist')
    expect(await program.call('var', { varid: 'greeting' })).toMatchObject({ message: 'Grüße / "all"' })
    await refused('var', { varid: 'absent' })
    await done('setvar', { var: 'level', data: '5' })
    expect(await program.call('getvar', { var: 'level' })).toMatchObject({ response: '5' })
    await refused('getvar', { var: 'absent' })
    await refused('setvar', { var: 'level', data: 'x'.repeat(501) })
    await done('log', { message: 'started', pcuser: 'PC-1' })
    await done('fetchOnline')
    await done('fetchStats')
    await refused('forgot', { username: 'frodo', email: 'frodo@example.com' })
    for (const type of ['file', 'webhook', 'chatsend', '2faenable', '2fadisable', 'no-such-type'])
      await refused(type, { fileid: '1', webid: '1', channel: 'a', message: 'b', code: '1' })
    await done('chatget', { channel: 'a' })

    await done('changeUsername', { newUsername: 'mr-underhill' })
    expect(await program.call('check')).toMatchObject({
      message: expect.stringMatching(/^Session not found\./),
    })
    await program.init()
    await done('login', { ...frodo, username: 'MR-UNDERHILL' })
    await done('logout')
    await refused('check')
    await program.init()
    await done('license', { key: third?.key })
    await done('ban', { reason: 'cracked' })
    await refused('check')
    await program.init()
    await refused('license', { key: third?.key })
  })
})

test('programs reach the endpoint over a socket, by any Host, and find headers by their exact names', async () => {
  const { app, settings } = await makeOldApp(owner)
  const origin = await on.server.listen({ port: 0, host: '127.0.0.1' })
  for (const sdk of oldSdks) {
    const { key } = single(await makeLicenses(on, owner, app, 1, years))
    const program = new OldProgram(sdk, settings, { wire: overSocket(origin), device: newDevice() })
    expect(await program.init(), sdk.name).toMatchObject({ success: true })
    expect(await program.call('license', { key }), sdk.name).toMatchObject({ success: true })
    expect(await program.call('check'), sdk.name).toMatchObject({ success: true })
  }
})

describe('over all protocols together', () => {
  const eager = [encrypted, python12, cpp12, go12, python13, cpp2026, go13]

  test('exactly one of 32 programs redeems a key', async () => {
    const { app, settings } = await makeOldApp(owner)
    for (let round = 0; round < rounds(1, 12); round += 1) {
      const { key } = single(await makeLicenses(on, owner, app, 1, years))
      const old = await Promise.all(
        Array.from({ length: 16 }, (_, at) => started(eager[at % eager.length] as Sdk, settings)),
      )
      const own = await times(16, () => startProgram(on, app))
      const name = (at: number) => `racer-${round}-${at}`
      const outcomes = await times(32, async (at) => {
        const program = own[at - 16]
        const [username, pass] = [name(at), 'swordfish-1']
        if (!program) return (await (old[at] as OldProgram).call('register', { username, pass, key })).success
        const body = { username, password: pass, licenseKey: key, hwid: newDevice() }
        return (await program.call('POST', '/register', body)).status === 200
      })
      expect(outcomes.filter(Boolean)).toHaveLength(1)
      const { json } = await owner.call('GET', `/clients?app=${app._id}&search=racer-${round}-`)
      expect(json.data.clients).toHaveLength(1)
    }
  })

  test('exactly one of 32 machines is bound to a key that signs in by itself', async () => {
    const { app, settings } = await makeOldApp(owner)
    for (let round = 0; round < rounds(1, 12); round += 1) {
      const { key } = single(await makeLicenses(on, owner, app, 1, years))
      const old = await Promise.all(
        Array.from({ length: 16 }, (_, at) => started(eager[at % eager.length] as Sdk, settings)),
      )
      const own = await times(16, () => startProgram(on, app))
      const outcomes = await times(32, async (at) => {
        const program = own[at - 16]
        if (!program) return (await (old[at] as OldProgram).call('license', { key })).success
        const body = { licenseKey: key, hwid: newDevice() }
        return (await program.call('POST', '/license', body)).status === 200
      })
      expect(outcomes.filter(Boolean)).toHaveLength(1)
    }
  })
})

describe('with limits', () => {
  const limited = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' })
  const vendor = premiumOwnerForAll(limited)
  const unknown = 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA'

  const startedAt = async (sdk: Sdk, old: OldApp, from: string, device = newDevice()) => {
    const program = new OldProgram(sdk, old, { wire: injected(limited.server, from), device })
    expect(await program.init()).toMatchObject({ success: true })
    return program
  }

  test('100 guessed keys are the limit of an address, whatever protocols they were guessed over', async () => {
    const { app, settings } = await makeOldApp(vendor)
    const { key } = single(await makeLicenses(limited, vendor, app, 1, years))
    const from = '10.2.0.1'
    const own = await startProgram(limited, app, { from })
    const programs = await Promise.all(
      [encrypted, python12, go13].map((sdk) => startedAt(sdk, settings, from)),
    )
    for (let guess = 0; guess < 25; guess += 1) {
      expect(refusal(await own.call('POST', '/license', { licenseKey: unknown }))).toBe('keyNotFound')
      for (const program of programs)
        expect(await program.call('license', { key: unknown })).toMatchObject({ success: false })
    }
    for (const program of programs)
      expect(await program.call('license', { key })).toMatchObject({ success: false })
    expect(refusal(await own.call('POST', '/license', { licenseKey: key }))).toBe('rate_limited')
    const elsewhere = await startedAt(python12, settings, '10.2.0.2')
    expect(await elsewhere.call('license', { key })).toMatchObject({ success: true })
  })

  test('guessed passwords of a name are counted together with those of our own protocol', async () => {
    const { app, settings } = await makeOldApp(vendor)
    const { key } = single(await makeLicenses(limited, vendor, app, 1, years))
    const frodo = { username: 'frodo', pass: 'ring-bearer-1' }
    const device = newDevice()
    const first = await startedAt(python12, settings, '10.3.1.1', device)
    expect(await first.call('register', { ...frodo, key })).toMatchObject({ success: true })
    expect(await first.call('login', frodo)).toMatchObject({ success: true })
    const from = '10.3.0.1'
    const own = await startProgram(limited, app, { from })
    const old = await startedAt(python13, settings, from)
    let guesses = 0
    for (; guesses < 200; guesses += 1) {
      await old.call('login', { ...frodo, pass: `wrong-${guesses}` })
      const answer = await own.call('POST', '/login', { username: 'frodo', password: `other-${guesses}` })
      if (refusal(answer) === 'rate_limited') break
    }
    expect(guesses).toBeLessThan(200)
    expect(await old.call('login', frodo)).toMatchObject({ success: false })
    const home = await startedAt(go12, settings, '10.3.1.1', device)
    expect(await home.call('login', frodo)).toMatchObject({ success: true })
  })

  test('a caller that floods gets answers that it can read, and hurts no other', async () => {
    const { app, settings } = await makeOldApp(vendor)
    const keys = await makeLicenses(limited, vendor, app, 20, years)
    const flooding = await startedAt(python12, settings, '10.4.0.1')
    const flood = times(rounds(400, 5000), () => flooding.call('license', { key: unknown }))
    const customers = await times(20, async (at) => {
      const program = await startedAt(go13, settings, `10.5.${at}.1`)
      const signedIn = await program.call('license', { key: keys[at]?.key })
      const checked = await program.call('check')
      return signedIn.success && checked.success
    })
    expect(customers).toEqual(customers.map(() => true))
    for (const answer of await flood) expect(answer.success).toBe(false)
  })
})
