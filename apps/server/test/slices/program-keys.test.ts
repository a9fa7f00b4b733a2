// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import type { Tables } from '../../src/db/tables.ts'
import { activateKey, makeApp, makeLicenses, refusal, registerUser, single, startProgram } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { times } from '../rounds.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

describe('signing in by key alone', () => {
  test('creates a user named after the key at the first use; later uses sign in the same user', async () => {
    const { license, user } = await activateKey(on, owner, app)
    expect(user).toMatchObject({ username: license.key, expiresAt: license.expiresAt })
    const program = await startProgram(on, app)
    for (const licenseKey of [license.key, license.key.toLowerCase(), license.key.replaceAll('-', '')]) {
      const { json } = await program.call('POST', '/license', { licenseKey })
      expect(json.data.user._id).toBe(user._id)
    }
    const { stats, clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
    expect(stats.total).toBe(1)
    expect(clients[0]).toMatchObject({ username: license.key, licenseKey: license.key })
  })

  test('is called by its device, its own address, and its customer, and never by the key', async () => {
    const { license, user } = await activateKey(on, owner, app)
    const known = async () => {
      const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
      const { client } = (await owner.call('GET', `/clients/${user._id}`)).json.data
      expect(client.knownAs).toBe(clients[0].knownAs)
      return client.knownAs
    }
    expect(await known()).toBeNull()
    const program = await startProgram(on, app)
    const device = { name: 'STUDIO-PC' }
    await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1', device })
    expect(await known()).toBe('STUDIO-PC')
    await owner.call('PATCH', `/clients/${user._id}`, { email: 'own@buyers.example' })
    expect(await known()).toBe('own@buyers.example')
    await owner.call('PATCH', `/clients/${user._id}`, { customer: 'rosa@buyers.example' })
    expect(await known()).toBe('rosa@buyers.example')
  })

  test('rejects the key of a user with a password, and a key added to a user', async () => {
    const { license, program } = await registerUser(on, owner, app)
    const added = single(await makeLicenses(on, owner, app))
    await program.call('POST', '/upgrade', { username: 'alice', licenseKey: added.key })
    const other = await startProgram(on, app)
    for (const { key } of [license, added]) {
      expect(refusal(await other.call('POST', '/license', { licenseKey: key }))).toBe('keyUsed')
    }
  })

  test('rejects an unknown, foreign, banned or expired key and creates no user', async () => {
    const foreign = single(await makeLicenses(on, owner, await makeApp(owner, 'Other')))
    const [banned, ended] = await makeLicenses(on, owner, app, 2)
    await owner.call('PATCH', `/licenses/${banned?._id}/toggle-ban`)
    await owner.call('PUT', `/licenses/${ended?._id}`, { expiresAt: '2001-01-01' })
    const program = await startProgram(on, app)
    const code = async (licenseKey?: string) =>
      refusal(await program.call('POST', '/license', { licenseKey }))
    expect(await code('AAAAA-AAAAA-AAAAA-AAAAA-AAAAA')).toBe('keyNotFound')
    expect(await code(foreign.key)).toBe('keyNotFound')
    expect(await code(banned?.key)).toBe('keyBanned')
    expect(await code(ended?.key)).toBe('noActiveSubs')
    expect((await owner.call('GET', `/clients?app=${app._id}`)).json.data.stats.total).toBe(0)
  })

  describe('with a custom key that was deleted and reissued', () => {
    const key = 'SUMMER-2026'
    const issue = async () => {
      const body = { app: app._id, key, expiresAt: on.clock.inDays(30) }
      const { status, json } = await owner.call('POST', '/licenses', body)
      expect(status).toBe(201)
      return json.data.license as { _id: string; expiresAt: string }
    }
    const use = async (hwid?: string) =>
      (await startProgram(on, app)).call('POST', '/license', { licenseKey: key, hwid })
    const firstUse = async (hwid?: string) => {
      await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
      const license = await issue()
      const { user } = (await use(hwid)).json.data
      await owner.call('DELETE', `/licenses/${license._id}`)
      return user
    }

    test('reactivates the end user created by the old key and keeps the hardware lock', async () => {
      const user = await firstUse('pc-1')
      const license = await issue()
      expect(refusal(await use('pc-2'))).toBe('hwidMismatch')
      const answers = await Promise.all([use('pc-1'), use('pc-1'), use('pc-1')])
      for (const { json } of answers) {
        expect(json.data.user).toMatchObject({ _id: user._id, expiresAt: license.expiresAt })
      }
      const { clients, stats } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
      expect(stats.total).toBe(1)
      expect(clients[0]).toMatchObject({ licenseKey: key, expiresAt: license.expiresAt })
      const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
      expect(licenses).toMatchObject([{ key, used: true }])
    })

    test('keeps a ban and leaves the key unused', async () => {
      const user = await firstUse()
      await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
      await issue()
      expect(refusal(await use())).toBe('userBanned')
      const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
      expect(licenses).toMatchObject([{ key, used: false }])
    })

    test('never opens an account registered under that name', async () => {
      await firstUse()
      const [client] = (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients
      await owner.call('DELETE', `/clients/${client._id}`)
      const registered = await registerUser(on, owner, app, key)
      await issue()
      const { user } = (await use()).json.data
      expect(user.username).toBe(`${key} (2)`)
      expect(user._id).not.toBe(registered.user._id)
    })

    test('returns to its end user whose name has a number', async () => {
      await registerUser(on, owner, app, key)
      const user = await firstUse('pc-1')
      expect(user.username).toBe(`${key} (2)`)
      await issue()
      expect(refusal(await use('pc-2'))).toBe('hwidMismatch')
      expect((await use('pc-1')).json.data.user._id).toBe(user._id)
    })
  })

  test('works at all concurrent callers while others have registered its name', async () => {
    const { key } = single(await makeLicenses(on, owner, app))
    for (const name of [key.toLowerCase(), `${key} (2)`]) await registerUser(on, owner, app, name)
    const answers = await times(8, async () => {
      const program = await startProgram(on, app)
      return program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
    })
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const names = answers.map(({ json }) => json.data.user.username)
    expect(new Set(names)).toEqual(new Set([`${key} (3)`]))
    const again = await startProgram(on, app)
    const { json } = await again.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
    expect(json.data.user.username).toBe(`${key} (3)`)
  })

  test('creates a new user with the remaining time after the old one was deleted', async () => {
    const { license, user } = await activateKey(on, owner, app, 'pc-1')
    await owner.call('DELETE', `/clients/${user._id}`)
    const program = await startProgram(on, app)
    const { json } = await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-2' })
    expect(json.data.user).toMatchObject({ username: license.key, expiresAt: license.expiresAt })
    expect(json.data.user._id).not.toBe(user._id)
  })
})

describe('an upgrade', () => {
  const upgrade = async (licenseKey: string, username = 'alice') =>
    (await startProgram(on, app)).call('POST', '/upgrade', { username, licenseKey })
  const licenses = async () => (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses

  test('is capped at the end of the year 9999', async () => {
    const body = { app: app._id, expiresAt: '9999-12-31', count: 2 }
    const [first, added] = (await owner.call('POST', '/licenses', body)).json.data.licenses
    const program = await startProgram(on, app)
    await program.call('POST', '/register', {
      username: 'methuselah',
      password: 'swordfish',
      licenseKey: first.key,
    })
    const { json } = await upgrade(added.key, 'methuselah')
    expect(json.data.user.expiresAt).toBe('9999-12-31T23:59:59.999Z')
    expect((await owner.call('GET', '/licenses')).status).toBe(200)
  })

  test("adds the key's remaining time to the user and its first license; the key keeps its expiry", async () => {
    const { license, user } = await registerUser(on, owner, app)
    const added = single(await makeLicenses(on, owner, app, 1, 10))
    on.clock.advance(4 * day)
    const { status, json } = await upgrade(added.key, 'ALICE')
    expect(status).toBe(200)
    const expiresAt = on.clock.inDays(26 + 6)
    expect(json.data.user).toMatchObject({ _id: user._id, username: 'alice', expiresAt })
    const [second, first] = await licenses()
    expect(first).toMatchObject({ _id: license._id, expiresAt })
    expect(second).toMatchObject({ expiresAt: added.expiresAt, used: true, usedBy: { username: 'alice' } })
  })

  test('counts from now for an expired user', async () => {
    const { license } = await registerUser(on, owner, app)
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: '2001-01-01' })
    on.clock.advance(day)
    const added = single(await makeLicenses(on, owner, app, 1, 10))
    expect((await upgrade(added.key)).json.data.user.expiresAt).toBe(on.clock.inDays(10))
  })

  test('uses a key once', async () => {
    await registerUser(on, owner, app)
    const added = single(await makeLicenses(on, owner, app, 1, 10))
    await upgrade(added.key)
    expect(refusal(await upgrade(added.key))).toBe('keyUsed')
    const program = await startProgram(on, app)
    const register = { username: 'bobby', password: 'swordfish', licenseKey: added.key }
    expect(refusal(await program.call('POST', '/register', register))).toBe('keyUsed')
  })

  test('that fails leaves the key unused and the user unchanged', async () => {
    const { user, program } = await registerUser(on, owner, app)
    const before = (await program.call('GET', '/session')).json.data.user.expiresAt
    const [fresh, banned, ended] = await makeLicenses(on, owner, app, 3)
    if (!fresh || !banned || !ended) throw new Error('three licenses expected')
    await owner.call('PATCH', `/licenses/${banned._id}/toggle-ban`)
    await owner.call('PUT', `/licenses/${ended._id}`, { expiresAt: '2001-01-01' })
    expect(refusal(await upgrade(fresh.key, 'nobody'))).toBe('usernameNotFound')
    expect(refusal(await upgrade('AAAAA-AAAAA-AAAAA-AAAAA-AAAAA'))).toBe('keyNotFound')
    expect(refusal(await upgrade(banned.key))).toBe('keyBanned')
    expect(refusal(await upgrade(ended.key))).toBe('noActiveSubs')
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    expect(refusal(await upgrade(fresh.key))).toBe('userBanned')
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    expect((await program.call('GET', '/session')).json.data.user.expiresAt).toBe(before)
    expect((await licenses()).filter((one: { used: boolean }) => one.used)).toHaveLength(1)
  })
})

describe('validate', () => {
  const validate = (body: object) =>
    on.call('POST', '/client/validate', { body: { appId: app.appId, ...body } })

  test('answers 200 with the verdict for every key of a known app', async () => {
    const [fresh, banned, ended] = await makeLicenses(on, owner, app, 3)
    await owner.call('PATCH', `/licenses/${banned?._id}/toggle-ban`)
    await owner.call('PUT', `/licenses/${ended?._id}`, { expiresAt: '2001-01-01' })
    const used = await activateKey(on, owner, app)
    const { license: named } = await registerUser(on, owner, app)
    const seen = async (licenseKey = '') => {
      const answer = await validate({ licenseKey })
      expect(answer.status).toBe(200)
      return answer.json.data
    }
    expect(await seen(fresh?.key)).toEqual({
      valid: true,
      activated: false,
      license: {
        key: fresh?.key,
        used: false,
        username: null,
        expiresAt: fresh?.expiresAt,
        inGrace: false,
        term: 'date',
      },
    })
    expect(await seen(used.license.key)).toMatchObject({
      valid: true,
      license: { used: true, username: used.user.username },
    })
    expect(await seen(named.key.toLowerCase())).toMatchObject({ valid: true, license: { username: 'alice' } })
    expect(await seen(banned?.key)).toMatchObject({ valid: false, code: 'keyBanned' })
    expect(await seen(ended?.key)).toMatchObject({ valid: false, code: 'noActiveSubs' })
    expect(await seen('AAAAA-AAAAA-AAAAA-AAAAA-AAAAA')).toEqual({
      valid: false,
      activated: false,
      code: 'keyNotFound',
      reference: expect.any(String),
      license: null,
    })
    expect(await seen(fresh?.key.slice(0, -1))).toMatchObject({ valid: false, code: 'keyNotFound' })
  })

  test('answers appDisabled for an unknown app', async () => {
    expect(refusal(await validate({ appId: 'ZZZZZZZZ', licenseKey: 'x' }))).toBe('appDisabled')
  })

  test('writes nothing for any verdict', async () => {
    const { license } = await activateKey(on, owner, app)
    const fresh = single(await makeLicenses(on, owner, app))
    const snapshot = async () => {
      const tables = [
        'licenses',
        'clients',
        'client_sessions',
        'daily_counts',
        'audit',
        'license_counts',
        'attempts',
      ]
      const rows = (table: string) =>
        on.database.db
          .selectFrom(table as keyof Tables)
          .selectAll()
          .execute()
      const found = (await Promise.all(tables.map(rows))).flat()
      // Refusals are counted later, together with those of the tests before.
      return JSON.stringify(found.filter((row) => !('metric' in row && row.metric === 'refusals')))
    }
    const before = await snapshot()
    for (const licenseKey of [license.key, fresh.key, 'nothing']) {
      await validate({ licenseKey, hwid: 'pc-1' })
      await validate({ licenseKey })
    }
    expect(await snapshot()).toBe(before)
  })
})
