// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import { newId } from '../../src/core/ids.ts'
import { ProgramSessions, sessionFieldBytesMax } from '../../src/modules/program/sessions/sessions.ts'
import { activateKey, hashed, makeApp, makeLicenses, refusal, single, startProgram } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { transactionsOn } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const rowsOf = (appId: string) =>
  on.database.db.selectFrom('client_sessions').selectAll().where('app_id', '=', appId).execute()

const ask = (token: string, appId: string) =>
  on.call('GET', '/client/session', { token, headers: { 'keyward-app': appId } })

/** Tries to sign in with a token and a valid key. */
async function trySignIn(token: string, of = app) {
  const license = single(await makeLicenses(on, owner, of))
  const headers = { 'keyward-app': of.appId }
  return on.call('POST', '/client/license', { token, headers, body: { licenseKey: license.key } })
}

const testKey = 'a secret key that only tests use, 32+ characters'

/** The sessions of a server with this SECRET_KEY. */
function sessionsWith(secretKey: string): ProgramSessions {
  const { clock, database } = on
  return new ProgramSessions(
    { clock, seal: createSeal(secretKey), tx: transactionsOn(database, clock) },
    () => {},
  )
}

test('init writes nothing; the first sign-in writes one row and the session continues from it', async () => {
  const program = await startProgram(on, app)
  expect(await rowsOf(app._id)).toEqual([])
  expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
  expect((await trySignIn(program.session)).status).toBe(200)
  expect((await trySignIn(program.session)).status).toBe(200)
  expect(await rowsOf(app._id)).toMatchObject([{ token_hash: hashed(program.session) }])
  expect((await program.call('GET', '/session')).status).toBe(200)
})

describe('a session without a sign-in', () => {
  test('expires after 24 hours', async () => {
    const program = await startProgram(on, app)
    on.clock.advance(24 * hour - 1)
    expect((await trySignIn(program.session)).status).toBe(200)
    const late = await startProgram(on, app)
    on.clock.advance(24 * hour)
    expect(refusal(await trySignIn(late.session))).toBe('sessionUnauthed')
  })

  test('ends at logout for good, and its row is deleted once the token has expired', async () => {
    const program = await startProgram(on, app)
    expect((await program.call('POST', '/logout')).status).toBe(200)
    expect(refusal(await program.call('POST', '/logout'))).toBe('sessionUnauthed')
    on.clock.advance(24 * hour - 1)
    await tidyUp(on)
    expect(refusal(await trySignIn(program.session))).toBe('sessionUnauthed')
    on.clock.advance(1)
    await tidyUp(on)
    expect(await rowsOf(app._id)).toEqual([])
    expect(refusal(await trySignIn(program.session))).toBe('sessionUnauthed')
  })

  test('ends when the secret changes', async () => {
    const program = await startProgram(on, app)
    await owner.call('POST', `/apps/${app._id}/rotate-secret`)
    expect(refusal(await trySignIn(program.session))).toBe('sessionUnauthed')
  })

  test('does not outlive its app', async () => {
    const program = await startProgram(on, app)
    await owner.call('DELETE', `/apps/${app._id}`)
    const headers = { 'keyward-app': app.appId }
    const body = { licenseKey: 'AAAAA' }
    const answer = await on.call('POST', '/client/license', { token: program.session, headers, body })
    expect(refusal(answer)).toBe('appDisabled')
  })
})

test('a session that was signed in ends at logout for good, although its token was sealed', async () => {
  const { program } = await activateKey(on, owner, app)
  await program.call('POST', '/logout')
  await tidyUp(on)
  expect(refusal(await trySignIn(program.session))).toBe('sessionUnauthed')
})

test.each(['alone', 'in bulk'])('a session ends for good when its user is deleted %s', async (how) => {
  const { program, user } = await activateKey(on, owner, app)
  const deleted =
    how === 'alone'
      ? await owner.call('DELETE', `/clients/${user._id}`)
      : await owner.call('POST', '/clients/bulk', { action: 'delete', ids: [user._id] })
  expect(deleted.status).toBe(200)
  expect(refusal(await trySignIn(program.session))).toBe('sessionUnauthed')
})

test('signs in with a session row that an earlier version wrote', async () => {
  const token = `kwc_${'y'.repeat(43)}`
  const now = on.clock.now()
  const row = { id: `cse_${app._id}`, app_id: app._id, client_id: null, hwid_hash: null, secret_version: 0 }
  await on.database.db
    .insertInto('client_sessions')
    .values({ ...row, token_hash: hashed(token), created_at: now, expires_at: now + hour })
    .execute()
  expect((await trySignIn(token)).status).toBe(200)
  expect((await ask(token, app.appId)).status).toBe(200)
})

test('signs in with a token that an earlier version sealed as JSON', async () => {
  const expiresAt = on.clock.now() + hour
  const sealed = { id: newId('cse'), expiresAt, secretVersion: 0, fields: { version: '1.0.0', locale: 'de' } }
  const text = Buffer.from(JSON.stringify(sealed))
  const token = `kwc_${createSeal(testKey).sealToken(text, `client_session:${app._id}`)}`
  expect((await trySignIn(token)).status).toBe(200)
  expect(await rowsOf(app._id)).toMatchObject([{ id: sealed.id, version: '1.0.0', locale: 'de' }])
})

test('the token of a common session is at most 128 letters long', async () => {
  const { session } = await startProgram(on, app)
  expect(session.length).toBeLessThanOrEqual(128)
})

describe('rejects', () => {
  test('a token of another app, in either app', async () => {
    const other = await makeApp(owner, 'Other')
    const program = await startProgram(on, app)
    expect(refusal(await trySignIn(program.session, other))).toBe('sessionUnauthed')
    expect(refusal(await ask(program.session, other.appId))).toBe('sessionUnauthed')
  })

  test('a token that another installation sealed for an app of the same id', async () => {
    const facts = { id: app._id, secretVersion: 0 }
    expect((await trySignIn(sessionsWith(testKey).open(facts).token)).status).toBe(200)
    expect(refusal(await trySignIn(sessionsWith(`${testKey}!`).open(facts).token))).toBe('sessionUnauthed')
    const ended = sessionsWith(testKey).open({ ...facts, secretVersion: -1 }).token
    expect(refusal(await trySignIn(ended))).toBe('sessionUnauthed')
  })

  test('cut, lengthened, forged and respelled tokens', async () => {
    const { session } = await startProgram(on, app)
    const forged = Array.from(session, (letter, at) =>
      at % 16 === 7 ? session.slice(0, at) + (letter === 'A' ? 'B' : 'A') + session.slice(at + 1) : session,
    ).filter((token) => token !== session)
    // Buffer decodes all of these to the same bytes as the token itself.
    const respelled = [`${session}A`, `${session}=`, session.replace('kwc_', 'kwc__'), ` ${session}`]
    for (const token of [
      ...forged,
      ...respelled,
      session.slice(0, -1),
      session.slice(0, 60),
      session.replace('kwc_', ''),
      `${session}${'A'.repeat(5000)}`,
      `kwc_${'A'.repeat(1000)}`,
    ]) {
      expect([token, refusal(await trySignIn(token))]).toEqual([token, 'sessionUnauthed'])
    }
    expect((await trySignIn(session)).status).toBe(200)
  })
})

describe('concurrently', () => {
  const many = 12

  test('every sign-in on one token succeeds, and the session belongs to one of the users', async () => {
    const program = await startProgram(on, app)
    const answers = await Promise.all(Array.from({ length: many }, () => trySignIn(program.session)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await rowsOf(app._id)).toHaveLength(1)
    const { user } = (await program.call('GET', '/session')).json.data
    expect(answers.map(({ json }) => json.data.user._id)).toContain(user._id)
  })

  test('a logout among sign-ins ends the session for good', async () => {
    const program = await startProgram(on, app)
    const [logout, ...answers] = await Promise.all([
      program.call('POST', '/logout'),
      ...Array.from({ length: many }, () => trySignIn(program.session)),
    ])
    for (const answer of answers) {
      if (answer.status !== 200) expect(refusal(answer)).toBe('sessionUnauthed')
    }
    expect(logout.status).toBe(200)
    expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
    expect(refusal(await trySignIn(program.session))).toBe('sessionUnauthed')
    expect(await rowsOf(app._id)).toHaveLength(1)
  })
})

test('a token takes a bounded number of fields, and the longest one fits into a header', async () => {
  const sessions = sessionsWith(testKey)
  const facts = { id: app._id, secretVersion: 0 }
  const fields = { locale: 'x'.repeat(sessionFieldBytesMax - '{"locale":""}'.length) }
  expect((await trySignIn(sessions.open(facts, fields).token)).status).toBe(200)
  expect(() => sessions.open(facts, { locale: `${fields.locale}x` })).toThrow('513 bytes')
})

test.each(['x', '"', '\u{1}', '\u{ffff}', '\ud800'])(
  'init has room in its token for the longest fields of %j',
  async (letter) => {
    const body = { appId: app.appId, secret: app.appSecret, version: letter.repeat(32), locale: 'zh-Hant-TW' }
    const { status, json } = await on.call('POST', '/client/init', { body })
    expect([200, 400]).toContain(status)
    if (status === 200) expect((await trySignIn(json.data.session)).status).toBe(200)
  },
)
