// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { activateKey, hashed, makeApp, refusal, startProgram } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const sessionEnd = async (token: string): Promise<number | undefined> => {
  const row = await on.database.db
    .selectFrom('client_sessions')
    .select('expires_at')
    .where('token_hash', '=', hashed(token))
    .executeTakeFirst()
  return row?.expires_at
}

describe('a request requires a session of the app it names', () => {
  test('otherwise the code is sessionUnauthed', async () => {
    const { program } = await activateKey(on, owner, app)
    const other = await activateKey(on, owner, await makeApp(owner, 'Other'))
    const session = (token: string | undefined, named: string | undefined) =>
      on.call('GET', '/client/session', {
        token,
        headers: named === undefined ? {} : { 'keyward-app': named },
      })
    expect((await session(program.session, app.appId)).status).toBe(200)
    expect((await session(program.session, app._id)).status).toBe(200)
    expect(refusal(await session(undefined, app.appId))).toBe('sessionUnauthed')
    expect(refusal(await session(program.session, undefined))).toBe('sessionUnauthed')
    expect(refusal(await session(`${program.session}x`, app.appId))).toBe('sessionUnauthed')
    expect(refusal(await session(program.session.toLowerCase(), app.appId))).toBe('sessionUnauthed')
    expect(refusal(await session(other.program.session, app.appId))).toBe('sessionUnauthed')
    expect(refusal(await session(program.session, other.program.appId))).toBe('sessionUnauthed')
    expect(refusal(await session(program.session, 'ZZZZZZZZ'))).toBe('appDisabled')
  })

  test('a session of another app cannot sign in', async () => {
    const { license, program } = await activateKey(on, owner, app)
    const foreign = await startProgram(on, await makeApp(owner, 'Other'))
    const answer = await foreign.call(
      'POST',
      '/license',
      { licenseKey: license.key },
      { headers: { 'keyward-app': program.appId } },
    )
    expect(refusal(answer)).toBe('sessionUnauthed')
  })

  test('a session before sign-in has no user', async () => {
    const program = await startProgram(on, app)
    expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
  })
})

describe('a program session', () => {
  test('expires after 24 hours without use and is extended by use', async () => {
    const { program } = await activateKey(on, owner, app)
    const expectExtended = () =>
      expect.poll(() => sessionEnd(program.session)).toBe(on.clock.now() + 24 * hour)
    for (let use = 0; use < 2; use += 1) {
      on.clock.advance(24 * hour - 1)
      expect((await program.call('GET', '/session')).status).toBe(200)
      await expectExtended()
    }
    on.clock.advance(24 * hour)
    expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
  })

  test('ends at logout; other sessions stay', async () => {
    const { program, license } = await activateKey(on, owner, app)
    const other = await startProgram(on, app)
    await other.call('POST', '/license', { licenseKey: license.key })
    expect((await program.call('POST', '/logout')).status).toBe(200)
    expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
    expect(refusal(await program.call('POST', '/license', { licenseKey: license.key }))).toBe(
      'sessionUnauthed',
    )
    expect((await other.call('GET', '/session')).status).toBe(200)
  })

  test('ends when its user is deleted, but not by a ban, a pause, an expiry or a deleted license', async () => {
    const { program, user, license } = await activateKey(on, owner, app)
    const code = async () => refusal(await program.call('GET', '/session'))
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    expect(await code()).toBe('userBanned')
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    await owner.call('PUT', `/apps/${app._id}`, { paused: true })
    expect(await code()).toBe('pausedApp')
    await owner.call('PUT', `/apps/${app._id}`, { paused: false })
    await owner.call('DELETE', `/licenses/${license._id}`)
    expect(await code()).toBe('noActiveSubs')
    await owner.call('PATCH', `/clients/${user._id}/extend`, { days: 1 })
    expect((await program.call('GET', '/session')).status).toBe(200)
    await owner.call('DELETE', `/clients/${user._id}`)
    expect(await code()).toBe('sessionUnauthed')
  })
})

test('a session belongs to the user who signed in last', async () => {
  const { program } = await activateKey(on, owner, app)
  const second = await activateKey(on, owner, app)
  const { json } = await program.call('POST', '/license', { licenseKey: second.license.key })
  expect((await program.call('GET', '/session')).json.data.user._id).toBe(json.data.user._id)
})

test('stores session tokens only as hashes', async () => {
  const { program } = await activateKey(on, owner, app)
  const rows = await on.database.db
    .selectFrom('client_sessions')
    .selectAll()
    .where('app_id', '=', app._id)
    .execute()
  expect(rows.map((row) => row.token_hash)).toContain(hashed(program.session))
  expect(JSON.stringify(rows)).not.toContain(program.session)
})
