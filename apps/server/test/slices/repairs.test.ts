import { describe, expect, test, vi } from 'vitest'
import { Passwords } from '../../src/core/passwords/passwords.ts'
import { activateKey, makeLicenses, refusal, registerUser, single, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const direct = async (username: string, days = 30) => {
  const body = { username, password: 'secret1', appId: app._id, expiresAt: on.clock.inDays(days) }
  const { status, json } = await owner.call('POST', '/clients/create-direct', body)
  expect(status).toBe(201)
  return json.data.client as { _id: string; username: string }
}

const login = async (username: string, password: string) => {
  const program = await startProgram(on, app)
  const answer = await program.call('POST', '/login', { username, password })
  return { program, answer }
}

const repair = (id: string, body: object) => owner.call('PATCH', `/clients/${id}`, body)

describe('the name of an end user', () => {
  test('changes for the next sign-in, and running sessions go on', async () => {
    const user = await direct('ada')
    const { program } = await login('ada', 'secret1')
    const changed = await repair(user._id, { username: 'Ada Lovelace' })
    expect(changed.json.data.client).toMatchObject({ username: 'Ada Lovelace' })
    expect((await program.call('GET', '/session')).json.data.user.username).toBe('Ada Lovelace')
    expect(refusal((await login('ada', 'secret1')).answer)).toBe('usernameNotFound')
    expect((await login('ada lovelace', 'secret1')).answer.status).toBe(200)
  })

  test('follows the rules of new names', async () => {
    const user = await direct('ada')
    await direct('grace')
    expect((await repair(user._id, { username: 'GRACE' })).json.code).toBe('username_taken')
    expect((await repair(user._id, { username: 'ab\u202ec' })).status).toBe(400)
    expect((await repair(user._id, {})).status).toBe(400)
    expect((await repair(user._id, { username: 'ADA' })).json.data.client.username).toBe('ADA')
  })

  test('goes to one of 32 concurrent callers', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, (_, at) => direct(`user${at}`)))
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, at) => repair(users[at % 8]?._id ?? '', { username: 'wanted' })),
    )
    const winners = new Set(
      answers.filter(({ status }) => status === 200).map(({ json }) => json.data.client._id),
    )
    expect(winners.size).toBe(1)
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
  })

  test('and the address are found by the search afterwards, and not by what they were', async () => {
    const user = await direct('oldname')
    await repair(user._id, { username: 'newname', email: 'new@engines.example' })
    const found = async (search: string) =>
      (await owner.call('GET', `/clients?app=${app._id}&search=${search}`)).json.data.pagination.total
    expect(await found('newname')).toBe(1)
    expect(await found('new@engines')).toBe(1)
    expect(await found('oldname')).toBe(0)
  })
})

describe('the end of an end user', () => {
  test('becomes earlier together with that of its license, and a past one ends it now', async () => {
    const { user, license, program } = await activateKey(on, owner, app)
    const sooner = on.clock.inDays(3)
    expect((await repair(user._id, { expiresAt: sooner })).json.data.client.expiresAt).toBe(sooner)
    const stored = async () => (await owner.call('GET', `/licenses/${license._id}`)).json.data.license
    expect((await stored()).expiresAt).toBe(sooner)
    await repair(user._id, { expiresAt: '2020-01-01' })
    expect(refusal(await program.call('GET', '/session'))).toBe('noActiveSubs')
    expect((await repair(user._id, { expiresAt: null })).json.data.client.expiresAt).toBeNull()
    expect((await program.call('GET', '/session')).status).toBe(200)
  })
})

describe('a new password', () => {
  test('ends sessions, and the former one signs in no more', async () => {
    const user = await direct('ada')
    const { program } = await login('ada', 'secret1')
    const set = await owner.call('PUT', `/clients/${user._id}/password`, { password: 'secret2' })
    expect(set.status).toBe(200)
    expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
    expect(refusal((await login('ada', 'secret1')).answer)).toBe('passMismatch')
    expect((await login('ada', 'secret2')).answer.status).toBe(200)
    const records = await on.database.db
      .selectFrom('audit')
      .select('detail')
      .where('action', '=', 'end_user.password_set')
      .where('target_id', '=', user._id)
      .execute()
    expect(records).toEqual([{ detail: '{}' }])
  })

  test('wins against a sign-in with the former one that is checked meanwhile', async () => {
    const user = await direct('ada')
    const { verify } = Passwords.prototype
    const during = vi.spyOn(Passwords.prototype, 'verify').mockImplementationOnce(async function (
      this: Passwords,
      ...sent
    ) {
      const matches = await verify.apply(this, sent)
      await owner.call('PUT', `/clients/${user._id}/password`, { password: 'secret2' })
      return matches
    })
    expect(refusal((await login('ada', 'secret1')).answer)).toBe('passMismatch')
    expect(during).toHaveBeenCalledOnce()
    expect((await login('ada', 'secret2')).answer.status).toBe(200)
    during.mockRestore()
  })

  test('is mailed by no app without a page for it, and needs an end user with a password', async () => {
    const user = await direct('ada')
    const mailed = await owner.call('PUT', `/clients/${user._id}/password`, { mail: true })
    expect([mailed.status, mailed.json.code]).toEqual([409, 'customer_page_off'])
    const byKey = await activateKey(on, owner, app)
    const set = await owner.call('PUT', `/clients/${byKey.user._id}/password`, { password: 'secret2' })
    expect([set.status, set.json.code]).toEqual([409, 'signs_in_by_key'])
  })
})

describe('a further license', () => {
  const add = (user: { _id: string }, license: { _id: string }) =>
    owner.call('POST', `/clients/${user._id}/licenses`, { license: license._id })

  test('adds its time, as an upgrade does', async () => {
    const { user } = await registerUser(on, owner, app)
    const before = (await owner.call('GET', `/clients/${user._id}`)).json.data.client.expiresAt
    const license = single(await makeLicenses(on, owner, app, 1, 10))
    const { client } = (await add(user, license)).json.data
    expect(Date.parse(client.expiresAt) - Date.parse(before)).toBe(10 * 86_400_000)
    const added = (await owner.call('GET', `/licenses/${license._id}`)).json.data.license
    expect(added).toMatchObject({ used: true, added: true, usedBy: { _id: user._id } })
  })

  test('is added once by 32 concurrent callers', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => activateKey(on, owner, app)))
    const license = single(await makeLicenses(on, owner, app))
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, at) => add(users[at % 4]?.user ?? { _id: '' }, license)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ json }) => json.code === 'license_not_free')).toHaveLength(31)
  })

  test('is not one that is used, banned, or of another app', async () => {
    const { user, license } = await activateKey(on, owner, app)
    expect((await add(user, license)).json.code).toBe('license_not_free')
    const banned = single(await makeLicenses(on, owner, app))
    await owner.call('PATCH', `/licenses/${banned._id}/toggle-ban`)
    expect((await add(user, banned)).json.code).toBe('license_not_free')
    const other = (await owner.call('POST', '/apps', { name: 'Other' })).json.data.app
    const theirs = single(await makeLicenses(on, owner, other))
    const missing = await add(user, { _id: `lic_${'0'.repeat(32)}` })
    expect((await add(user, theirs)).json).toEqual(missing.json)
    expect(missing.status).toBe(404)
  })

  test('is refused while the end user is banned or paused, as programs are', async () => {
    const { user } = await activateKey(on, owner, app)
    const license = single(await makeLicenses(on, owner, app))
    for (const name of ['toggle-ban', 'toggle-pause']) {
      await owner.call('PATCH', `/clients/${user._id}/${name}`)
      expect((await add(user, license)).json.code, name).toBe('end_user_blocked')
      await owner.call('PATCH', `/clients/${user._id}/${name}`)
    }
    expect((await add(user, license)).status).toBe(200)
  })

  test('needs the right to change licenses', async () => {
    const { user } = await activateKey(on, owner, app)
    const license = single(await makeLicenses(on, owner, app))
    const key = await makeApiKey(on, owner, { permissions: ['clients:write', 'clients:read'] })
    const answer = await key.call('POST', `/clients/${user._id}/licenses`, { license: license._id })
    expect([answer.status, answer.json.code]).toEqual([403, 'permission_missing'])
  })
})
