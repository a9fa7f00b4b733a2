import { afterEach, describe, expect, test } from 'vitest'
import { Passwords } from '../../src/core/passwords/passwords.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  makePremium,
  makeType,
  type Program,
  refusal,
  registerUser,
  signUp,
  single,
  startProgram,
} from '../actors.ts'
import { sentParts, setLicense } from '../devices.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { recount } from '../recount.ts'
import { rounds, times } from '../rounds.ts'

// Let all requests run at once, without the per-account limit.
const on = serverForAll(
  {},
  { passwords: new Passwords(), gateSizes: { requests: { running: 100, waiting: 0 } } },
)
const owner = ownerForEach(on)
const app = appForEach(owner)
afterEach(async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

const programs = (count: number): Promise<Program[]> => times(count, () => startProgram(on, app))
const successes = (answers: Answer[]) => answers.filter((answer) => answer.status < 300)
const refusals = (answers: Answer[]) => answers.filter((answer) => answer.status >= 300).map(refusal)
const repeat = (code: string, count: number) => Array.from({ length: count }, () => code)

const clients = async () => (await owner.call('GET', `/clients?app=${app._id}`)).json.data
const licenses = async () => (await owner.call('GET', `/licenses?app=${app._id}&limit=200`)).json.data
const today = async () => (await owner.call('GET', `/activity/days?app=${app._id}`)).json.data.days.at(-1)

describe('for the last free place', () => {
  test('creates one of twelve concurrent apps on the free plan', async () => {
    const answers = await times(12, (at) => owner.call('POST', '/apps', { name: `App ${at}` }))
    expect(successes(answers)).toHaveLength(1)
    expect(refusals(answers)).toEqual(repeat('plan_limit_reached', 11))
    expect((await owner.call('GET', '/apps')).json.data.count).toBe(2)
  })

  test('concurrent single and bulk licenses fill the limit of 30 and never exceed it', async () => {
    const sizes = [1, 7, 1, 12, 5, 1, 9, 3, 1, 20, 1, 2, 4, 1, 6, 1]
    const answers = await times(sizes.length, (at) =>
      owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(1), count: sizes[at] }),
    )
    const made = sizes.filter((_, at) => answers[at]?.status === 201).reduce((sum, size) => sum + size, 0)
    expect(made).toBeLessThanOrEqual(30)
    expect((await licenses()).stats.total).toBe(made)
    expect(new Set(refusals(answers))).toEqual(new Set(['plan_limit_reached']))
    const rest = await times(31 - made, () =>
      owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(1) }),
    )
    expect(refusals(rest)).toEqual(['plan_limit_reached'])
    expect((await licenses()).stats.total).toBe(30)
  })

  test('creates one of eight concurrent licenses with the same custom key', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
    const answers = await times(8, (at) =>
      owner.call('POST', '/licenses', {
        app: app._id,
        expiresAt: on.clock.inDays(1),
        key: at % 2 ? 'SAME-KEY' : 'samekey',
      }),
    )
    expect(successes(answers)).toHaveLength(1)
    expect(refusals(answers)).toEqual(repeat('key_taken', 7))
  })
})

describe('concurrent programs with one key', () => {
  test('exactly one of sixteen registers', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const all = await programs(16)
    const answers = await times(16, (at) =>
      (all[at] as Program).call('POST', '/register', {
        username: `user${at}`,
        password: 'swordfish',
        licenseKey: license.key,
      }),
    )
    expect(successes(answers)).toHaveLength(1)
    expect(refusals(answers)).toEqual(repeat('keyUsed', 15))
    const winner = single(successes(answers)).json.data.user
    const seen = await clients()
    expect(seen.stats.total).toBe(1)
    expect(seen.clients[0].username).toBe(winner.username)
    expect(single<{ usedBy: object }>((await licenses()).licenses).usedBy).toEqual({
      _id: winner._id,
      username: winner.username,
      name: winner.username,
    })
    expect(await today()).toMatchObject({ activations: 1, signIns: 1 })
  })

  test('exactly one of sixteen computers is bound; the others get hwidMismatch', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const all = await programs(16)
    const answers = await times(16, (at) =>
      (all[at] as Program).call('POST', '/license', { licenseKey: license.key, hwid: `pc-${at}` }),
    )
    expect(successes(answers)).toHaveLength(1)
    expect(refusals(answers)).toEqual(repeat('hwidMismatch', 15))
    const bound = answers.findIndex((answer) => answer.status === 200)
    expect((await clients()).stats.total).toBe(1)
    expect((await clients()).clients[0].hwid).toBe(`pc-${bound}`)
    expect(await today()).toMatchObject({ activations: 1, signIns: 1 })
  })

  const computers = rounds(16, 32)

  test(`of ${computers} computers, exactly one more is bound as the last of three devices`, async () => {
    for (let round = 0; round < rounds(1, 50); round++) {
      const license = single(await makeLicenses(on, owner, app))
      await setLicense(on, license, { devices: 3 })
      const signIn = (program: Program, hwid: string) =>
        program.call('POST', '/license', { licenseKey: license.key, hwid })
      const all = await programs(computers)
      for (const at of [0, 1]) expect((await signIn(all[at]!, `pc-${at}`)).status).toBe(200)
      const answers = await times(all.length, (at) => signIn(all[at]!, `pc-${at}`))
      expect(successes(answers)).toHaveLength(3)
      expect(refusals(answers)).toEqual(repeat('hwidMismatch', all.length - 3))
      const { _id } = successes(answers)[0]!.json.data.user
      expect((await owner.call('GET', `/clients/${_id}/devices`)).json.data).toMatchObject({
        used: 3,
        limit: 3,
      })
      await owner.call('DELETE', `/licenses/${license._id}`)
    }
  })

  test('all sign in as the same user on one computer', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const all = await programs(16)
    const answers = await times(16, (at) =>
      (all[at] as Program).call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' }),
    )
    expect(refusals(answers)).toEqual([])
    expect(new Set(answers.map((answer) => answer.json.data.user._id)).size).toBe(1)
    expect((await clients()).stats.total).toBe(1)
    expect(await today()).toMatchObject({ activations: 1, signIns: 16 })
  })

  const callers = rounds(12, 32)

  test(`of ${callers} concurrent calls from one device exactly one starts a trial, and all sign in to it`, async () => {
    await makePremium(on, owner)
    await makeType(owner, app, { trial: true })
    for (let round = 0; round < rounds(1, 50); round++) {
      const all = await programs(callers)
      const answers = await times(callers, (at) => {
        const parts = sentParts(app, { disk: `d${round}`, board: `b${round}`, network: `n${at}` })
        return all[at]!.call('POST', '/trial', { hwid: `pc-${round}`, device: { parts } })
      })
      expect(refusals(answers)).toEqual([])
      expect(new Set(answers.map(({ json }) => json.data.user._id)).size).toBe(1)
    }
  })

  test('extend one user once', async () => {
    await registerUser(on, owner, app)
    const key = single(await makeLicenses(on, owner, app, 1, 10)).key
    const all = await programs(16)
    const answers = await times(16, (at) =>
      (all[at] as Program).call('POST', '/upgrade', { username: 'alice', licenseKey: key }),
    )
    expect(successes(answers)).toHaveLength(1)
    expect(refusals(answers)).toEqual(repeat('keyUsed', 15))
    expect((await clients()).clients[0].expiresAt).toBe(on.clock.inDays(40))
  })
})

test('concurrent upgrades with different keys all add up', async () => {
  await registerUser(on, owner, app)
  const keys = await makeLicenses(on, owner, app, 8, 10)
  const all = await programs(8)
  const answers = await times(8, (at) =>
    (all[at] as Program).call('POST', '/upgrade', { username: 'alice', licenseKey: keys[at]?.key }),
  )
  expect(refusals(answers)).toEqual([])
  expect((await clients()).clients[0].expiresAt).toBe(on.clock.inDays(30 + 80))
})

test('registers one of sixteen concurrent users with the same name and uses no other key', async () => {
  const keys = await makeLicenses(on, owner, app, 16)
  const all = await programs(16)
  const answers = await times(16, (at) =>
    (all[at] as Program).call('POST', '/register', {
      username: at % 2 ? 'Alice' : 'alice',
      password: 'swordfish',
      licenseKey: keys[at]?.key,
    }),
  )
  expect(successes(answers)).toHaveLength(1)
  expect(refusals(answers)).toEqual(repeat('usernameTaken', 15))
  expect((await licenses()).stats).toMatchObject({ total: 16, active: 1, unused: 15 })
})

test('a ban during concurrent sign-ins rejects every session afterwards', async () => {
  const { license, user } = await activateKey(on, owner, app)
  const all = await programs(8)
  const signIns = all.map((program) => program.call('POST', '/license', { licenseKey: license.key }))
  const ban = owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: true })
  const answers = await Promise.all(signIns)
  expect((await ban).status).toBe(200)
  expect(refusals(answers).every((code) => code === 'userBanned')).toBe(true)
  for (const [at, program] of all.entries()) {
    const code = refusal(await program.call('GET', '/session'))
    expect(code).toBe(answers[at]?.status === 200 ? 'userBanned' : 'sessionUnauthed')
  }
})

test('counts all concurrent toggles: an even number restores the state', async () => {
  const { license, user } = await activateKey(on, owner, app)
  const toggles = await times(8, (at) =>
    owner.call('PATCH', at % 2 ? `/clients/${user._id}/toggle-ban` : `/licenses/${license._id}/toggle-ban`),
  )
  expect(refusals(toggles)).toEqual([])
  expect((await clients()).clients[0].ban).toBe(false)
  expect((await licenses()).licenses[0].banned).toBe(false)
})

test('concurrent partial message changes lose nothing', async () => {
  const keys = [
    'keyUsed',
    'keyBanned',
    'userBanned',
    'pausedApp',
    'hwidMismatch',
    'keyNotFound',
    'unTooShort',
  ]
  const path = `/apps/${app._id}/error-messages`
  const answers = await times(keys.length, (at) =>
    owner.call('PUT', path, { [keys[at] as string]: `new ${at}` }),
  )
  expect(refusals(answers)).toEqual([])
  const { errorMessages } = (await owner.call('GET', path)).json.data
  expect(keys.map((key) => errorMessages[key])).toEqual(keys.map((_, at) => `new ${at}`))
})

test('concurrent extensions add up for user and license', async () => {
  const { license, user } = await activateKey(on, owner, app)
  await times(10, () => owner.call('PATCH', `/clients/${user._id}/extend`, { days: 1 }))
  expect((await clients()).clients[0].expiresAt).toBe(on.clock.inDays(40))
  const [seen] = (await licenses()).licenses
  expect(seen).toMatchObject({ _id: license._id, expiresAt: on.clock.inDays(40) })
})

test('deleting keys during their first use leaves no active user without a license', async () => {
  for (let round = 0; round < 3; round += 1) {
    const keys = await makeLicenses(on, owner, app, 8)
    const all = await programs(8)
    await Promise.all(
      keys.flatMap(({ _id, key }, at) => [
        (all[at] as Program).call('POST', '/license', { licenseKey: key }),
        at % 2 ? owner.call('DELETE', `/licenses/${_id}`) : owner.call('DELETE', `/licenses?app=${app._id}`),
      ]),
    )
    const { rows } = {
      rows: await on.database.db.selectFrom('clients').selectAll().where('app_id', '=', app._id).execute(),
    }
    const existing = new Set((await licenses()).licenses.map((one: { _id: string }) => one._id))
    for (const row of rows) {
      if (row.license_id === null) expect(row.expires_at).toBeLessThanOrEqual(on.clock.now())
      else expect(existing).toContain(row.license_id)
    }
  }
})

test('counts match a recount after concurrent changes of every kind', async () => {
  const keys = await makeLicenses(on, owner, app, 12)
  const all = await programs(12)
  const users = await Promise.all([activateKey(on, owner, app), activateKey(on, owner, app)])
  await Promise.all([
    ...all.map((program, at) =>
      program.call('POST', '/license', { licenseKey: keys[at]?.key, hwid: `pc-${at}` }),
    ),
    ...keys.slice(0, 6).map(({ _id }) => owner.call('PATCH', `/licenses/${_id}/toggle-ban`)),
    ...keys
      .slice(3, 9)
      .map(({ _id }, at) => owner.call('PUT', `/licenses/${_id}`, { expiresAt: on.clock.inDays(at) })),
    ...keys.slice(8).map(({ _id }) => owner.call('DELETE', `/licenses/${_id}`)),
    ...users.map(({ user }) => owner.call('DELETE', `/clients/${user._id}`)),
    ...users.map(({ user }) => owner.call('PATCH', `/clients/${user._id}/extend`, { days: 3 })),
    makeApp(owner, 'Second'),
  ]).then((answers) => {
    const broken = answers.filter((answer) => 'status' in answer && answer.status >= 500)
    expect(broken).toEqual([])
  })
})

test('two concurrent resets both end without an internal error', async () => {
  const vendor = await signUp(on)
  await makeLicenses(on, vendor, await makeApp(vendor), 5)
  const twice = await Promise.all([
    vendor.call('POST', '/settings/reset'),
    vendor.call('POST', '/settings/reset'),
  ])
  expect(twice.map(({ status }) => status).filter((status) => status !== 401)).not.toContain(404)
  expect(twice.some(({ status }) => status === 200)).toBe(true)
})
