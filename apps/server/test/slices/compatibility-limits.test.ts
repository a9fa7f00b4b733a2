// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test, vi } from 'vitest'
import { problem } from '../../src/core/problem.ts'
import { makeLicenses, signUp, single, startProgram } from '../actors.ts'
import { hmac, makeOldApp, read13, send, start12 } from '../compatibility-actor.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'
import { QuickPasswords } from '../quick-passwords.ts'

const on = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' }, { programRequestsPerMinute: 700 })
const owner = premiumOwnerForAll(on)
const hwid = 'S-1-5-21-1004336348-1177238915-682003330-512'
const tooMany = { success: false, message: 'Too many attempts. Please try again later.' }

describe('limits of guesses hold across both protocols', () => {
  test('for keys: what our own protocol counted, the other one refuses, except on the bound device', async () => {
    const from = '10.9.0.1'
    const { app, settings } = await makeOldApp(owner)
    const { key } = single(await makeLicenses(on, owner, app))
    const program = await start12(on, settings, { from })
    await program.call('license', { key, hwid })
    const ours = await startProgram(on, app, { from })
    for (let guess = 0; guess < 50; guess += 1) {
      const answer = await ours.call('POST', '/license', { licenseKey: `NO-SUCH-KEY-${guess}` })
      expect(answer.json.code).toBe('keyNotFound')
      expect((await program.call('license', { key: `NO-SUCH-KEY-B${guess}` })).success).toBe(false)
    }
    expect(await program.call('license', { key: 'NO-SUCH-KEY' })).toEqual(tooMany)
    expect((await ours.call('POST', '/license', { licenseKey: 'NO-SUCH-KEY' })).json.code).toBe(
      'rate_limited',
    )
    expect(await program.call('license', { key })).toEqual(tooMany)
    expect(await program.call('license', { key, hwid })).toMatchObject({ success: true })
  })

  test('for passwords', async () => {
    const from = '10.9.0.2'
    const { app, settings } = await makeOldApp(owner)
    const { key } = single(await makeLicenses(on, owner, app))
    const program = await start12(on, settings, { from })
    const user = { username: 'frodo', pass: 'ring-bearer-1' }
    await program.call('register', { ...user, key })
    let guesses = 0
    while (guesses < 100) {
      guesses += 1
      const { message } = await program.call('login', { ...user, pass: `guess ${guesses}` })
      if (message === tooMany.message) break
    }
    expect(guesses).toBeLessThan(30)
    const ours = await startProgram(on, app, { from })
    const answer = await ours.call('POST', '/login', { username: 'frodo', password: 'another guess' })
    expect(answer.json.code).toBe('rate_limited')
  })

  test('for addresses of forgotten passwords', async () => {
    const { settings } = await makeOldApp(owner)
    const program = await start12(on, settings, { from: '10.9.0.3' })
    for (let guess = 0; guess < 10; guess += 1) await program.call('forgot', { username: 'frodo' })
    expect(await program.call('forgot', { username: 'frodo' })).toEqual(tooMany)
  })
})

test('an end user changes its name ten times a day, and its variables not without end', async () => {
  const from = '10.9.3.1'
  const { app, settings } = await makeOldApp(owner)
  const { key } = single(await makeLicenses(on, owner, app))
  const signIn = async () => {
    const program = await start12(on, settings, { from })
    await program.call('license', { key, hwid })
    return program
  }
  for (let name = 0; name < 10; name += 1) {
    const renamed = await (await signIn()).call('changeUsername', { newUsername: `Samwise ${name}` })
    expect(renamed).toMatchObject({ success: true })
  }
  const program = await signIn()
  expect(await program.call('changeUsername', { newUsername: 'Samwise 10' })).toEqual(tooMany)
  const set = (data: string) => program.call('setvar', { var: 'level', data })
  for (let done = 0; done < 600; done += 100) {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => set(`${(done + at) % 2}`)))
    expect(answers.every(({ success }) => success)).toBe(true)
  }
  expect(await set('more')).toEqual(tooMany)
})

test('a flood of one address gets signed refusals, then refusals that nobody signs, and others get answers', async () => {
  const from = '10.9.1.1'
  const { settings } = await makeOldApp(owner)
  const { name, ownerId: ownerid, secret } = settings
  const init = (address: string, protocol = '1.2') =>
    send(on, { type: 'init', enckey: 'abc', name, ownerid }, { from: address, protocol })
  for (let sent = 0; sent < 700; sent += 1) await init(from)
  const refused = await init(from)
  expect(refused.json).toEqual(tooMany)
  expect(refused.headers.signature).toBe(hmac(secret, refused.payload))
  expect(read13(settings, await init(from, '1.3'))).toMatchObject({ success: false })
  for (let sent = 0; sent < 700; sent += 1) await init(from)
  const unread = await init(from)
  expect(unread.json).toEqual(tooMany)
  expect(unread.headers).not.toHaveProperty('signature')
  expect((await init('10.9.1.2')).json).toMatchObject({ success: true })
})

test('a session lives on after a restart with its key, and ends for good with our own secret', async () => {
  const first = await startServer()
  const someone = await signUp(first)
  const { app, settings } = await makeOldApp(someone)
  const { key } = single(await makeLicenses(first, someone, app))
  const program = await start12(first, settings)
  const { name, ownerId: ownerid } = settings
  const second = await startServer({ DATABASE_URL: first.config.databaseUrl ?? '', DATA_DIR: first.dataDir })
  const ask = async (type: string, fields = {}) =>
    send(second, { type, sessionid: program.sessionid, name, ownerid, ...fields })
  const signedIn = await ask('license', { key, hwid })
  expect(signedIn.json).toMatchObject({ success: true })
  expect(signedIn.headers.signature).toBe(hmac(`1f3c9a60-7b2d-4e-${settings.secret}`, signedIn.payload))
  await someone.call('POST', `/apps/${app._id}/rotate-secret`)
  const ended = await ask('check')
  expect(ended.json.message).toMatch(/^Session not found\./)
  expect(ended.headers.signature).toBe(hmac(`1f3c9a60-7b2d-4e-${settings.secret}`, ended.payload))
  await second.close()
  await first.close()
})

test('a session ends after a day, and its last refusal is still signed', async () => {
  const { settings } = await makeOldApp(owner)
  const program = await start12(on, settings, { from: '10.9.2.1' })
  on.clock.advance(24 * 3_600_000 + 1)
  expect(await program.call('check')).toEqual({
    success: false,
    message: expect.stringMatching(/^Session not found\./),
  })
})

test('a busy server and a failing one answer in the shape of the protocol, signed', async () => {
  const passwords = new QuickPasswords()
  const failing = await startServer({}, { passwords })
  const someone = await signUp(failing)
  const { app, settings } = await makeOldApp(someone)
  const { key } = single(await makeLicenses(failing, someone, app))
  const program = await start12(failing, settings)
  const register = () => program.call('register', { username: 'frodo', pass: 'ring-bearer-1', key })
  const hash = vi.spyOn(passwords, 'hash')
  hash.mockRejectedValueOnce(problem('busy'))
  expect(await register()).toEqual({ success: false, message: problem('busy').message })
  hash.mockRejectedValueOnce(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }))
  expect(await register()).toEqual({ success: false, message: expect.stringMatching(/storage|server/) })
  expect(await register()).toMatchObject({ success: true })
  await failing.close()
})
