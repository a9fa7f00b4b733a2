// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  refusal,
  registerUser,
  signUp,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { runKeywardInHost } from '../command-line.ts'
import { appForEach, ownerForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyward-refusals-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const rangesFile = join(folder, 'vpn.txt')
writeFileSync(rangesFile, '198.51.100.0/24\n2001:db8:bad::/48\n')

const on = serverForAll({ VPN_RANGES_FILE: rangesFile })
const plain = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const set = (settings: object) => owner.call('PUT', `/apps/${app._id}`, { settings })

test('settings have defaults, change one by one and are bounded', async () => {
  const read = async () => (await owner.call('GET', `/apps/${app._id}`)).json.data.app.settings
  const before = await read()
  expect(before).toMatchObject({
    usernameMin: 3,
    blockVpn: false,
    vpnAllowed: [],
    checkHash: false,
    checkPasswords: false,
  })
  await set({ usernameMin: 5, vpnAllowed: ['198.51.100.9/28', '198.51.100.0/28', '::ffff:203.0.113.7'] })
  expect(await read()).toEqual({ ...before, usernameMin: 5, vpnAllowed: ['198.51.100.0/28', '203.0.113.7'] })
  expect(wrongFields(await set({ usernameMin: 2 }))).toEqual(['settings.usernameMin'])
  expect(wrongFields(await set({ usernameMin: 33 }))).toEqual(['settings.usernameMin'])
  expect(wrongFields(await set({ vpnAllowed: ['203.0.113.7', '0.0.0.0/0'] }))).toEqual([
    'settings.vpnAllowed.1',
  ])
})

test('names shorter than the app allows are refused', async () => {
  await set({ usernameMin: 5 })
  const license = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)
  const register = (username: string) =>
    program.call('POST', '/register', { username, password: 'swordfish', licenseKey: license.key })
  expect(refusal(await register('anna'))).toBe('unTooShort')
  expect(refusal(await register('🦊🦊🦊🦊'))).toBe('unTooShort')
  expect((await register('annas')).status).toBe(200)
})

test('common passwords are refused where the app checks them', async () => {
  const license = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)
  const register = (password: string) =>
    program.call('POST', '/register', { username: 'anna', password, licenseKey: license.key })
  await set({ checkPasswords: true })
  for (const password of ['123456', 'Password', 'QWERTY', 'zzzzzzzz'])
    expect(refusal(await register(password))).toBe('pwLeaked')
  await set({ checkPasswords: false })
  expect((await register('123456')).status).toBe(200)
})

describe('a VPN', () => {
  const inVpn = { from: '198.51.100.77' }
  test('is refused at every call, except from allowed networks', async () => {
    const { program, license } = await activateKey(on, owner, app, 'pc-1')
    expect((await program.call('GET', '/session', undefined, inVpn)).status).toBe(200)
    await set({ blockVpn: true })
    expect(refusal(await program.call('GET', '/session', undefined, inVpn))).toBe('vpnBlocked')
    expect(refusal(await program.call('GET', '/session', undefined, { from: '2001:db8:bad::1' }))).toBe(
      'vpnBlocked',
    )
    expect((await program.call('GET', '/session')).status).toBe(200)
    const body = { appId: app.appId, licenseKey: license.key, hwid: 'pc-1' }
    const verdict = await on.call('POST', '/client/validate', { body, ...inVpn })
    expect(verdict.json.data).toMatchObject({ valid: false, code: 'vpnBlocked' })
    await set({ vpnAllowed: ['198.51.100.64/26'] })
    expect((await program.call('GET', '/session', undefined, inVpn)).status).toBe(200)
    expect(refusal(await program.call('GET', '/session', undefined, { from: '198.51.100.1' }))).toBe(
      'vpnBlocked',
    )
  })

  test('redeems no key', async () => {
    await set({ blockVpn: true })
    const license = single(await makeLicenses(on, owner, app))
    const program = await startProgram(on, app)
    const key = { licenseKey: license.key }
    expect(refusal(await program.call('POST', '/license', key, inVpn))).toBe('vpnBlocked')
    const anna = { username: 'anna', password: 'swordfish', ...key }
    expect(refusal(await program.call('POST', '/register', anna, inVpn))).toBe('vpnBlocked')
    const [seen] = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
    expect(seen.used).toBe(false)
  })

  test('adds no key to an end user', async () => {
    const { program, license } = await activateKey(on, owner, app)
    const added = single(await makeLicenses(on, owner, app))
    await set({ blockVpn: true })
    const body = { username: license.key, licenseKey: added.key }
    expect(refusal(await program.call('POST', '/upgrade', body, inVpn))).toBe('vpnBlocked')
    expect((await program.call('POST', '/upgrade', body)).status).toBe(200)
  })

  test('cannot be refused by a server without a list of ranges, which the console shows', async () => {
    const vendor = await signUp(plain)
    const theirs = await makeApp(vendor)
    const answer = await vendor.call('PUT', `/apps/${theirs._id}`, { settings: { blockVpn: true } })
    expect(wrongFields(answer)).toEqual(['settings.blockVpn'])
    expect((await plain.call('GET', '/config')).json.data.vpnRanges).toBe(false)
    expect((await on.call('GET', '/config')).json.data.vpnRanges).toBe(true)
  })
})

describe('program hashes', () => {
  const init = (version: string, hash?: string) =>
    on.call('POST', '/client/init', { body: { appId: app.appId, secret: app.appSecret, version, hash } })
  const build = 'a'.repeat(64)
  const put = (hashes: object[]) => owner.call('PUT', `/apps/${app._id}/program-hashes`, { hashes })

  test('decide which builds may start: version and hash must be on the list', async () => {
    await set({ checkHash: true })
    expect((await init('1.0.0')).status).toBe(200)
    await put([
      { version: '1.0.0', hash: build },
      { version: '1.0.0', hash: 'b'.repeat(64) },
      { version: '1.0.0', hash: build },
    ])
    const { json } = await owner.call('GET', `/apps/${app._id}/program-hashes`)
    expect(json.data.hashes).toEqual([
      { version: '1.0.0', hash: build },
      { version: '1.0.0', hash: 'b'.repeat(64) },
    ])
    expect((await init('1.0.0', build.toUpperCase())).status).toBe(200)
    for (const hash of [undefined, '', build.slice(0, 63), `${build}a`])
      expect(refusal(await init('1.0.0', hash))).toBe('hashCheckFail')
    // A version that is not listed would otherwise get around the check.
    expect(refusal(await init('9.9.9', build))).toBe('hashCheckFail')
    await set({ checkHash: false })
    expect((await init('9.9.9')).status).toBe(200)
  })

  test('rejects hashes that are empty or too short to mean anything', async () => {
    for (const hash of ['', 'a'.repeat(15), 'a b'.repeat(9)])
      expect(wrongFields(await put([{ version: '1.0.0', hash }]))).toEqual(['hashes.0.hash'])
  })

  test('are printed by a command', async () => {
    const file = join(folder, 'program.exe')
    writeFileSync(file, 'hello')
    const { code, stdout } = await runKeywardInHost(['hash', file], {})
    expect([code, stdout]).toEqual([0, '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n'])
    const missing = await runKeywardInHost(['hash', join(folder, 'none')], {})
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('There is no file')])
  })
})

describe('a paused end user', () => {
  const on = serverForAll()
  const owner = ownerForEach(on)
  const app = appForEach(owner)
  const pause = (id: string, paused?: boolean) =>
    owner.call('PATCH', `/clients/${id}/toggle-pause`, { paused })
  const shown = async () => (await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients[0]

  test('is refused, and keeps the remaining time', async () => {
    const { program, user, license } = await activateKey(on, owner, app)
    on.clock.advance(10 * day)
    const paused = await pause(user._id)
    expect(paused.json.data.client).toMatchObject({ paused: true, status: 'active' })
    const again = await startProgram(on, app)
    expect(refusal(await again.call('POST', '/license', { licenseKey: license.key }))).toBe('pausedSub')
    const body = { appId: app.appId, licenseKey: license.key }
    expect((await on.call('POST', '/client/validate', { body })).json.data.code).toBe('pausedSub')
    for (let at = 0; at < 3; at += 1) {
      on.clock.advance(10 * day)
      await tidyUp(on)
      expect(await shown()).toMatchObject({ paused: true, status: 'active', expiresAt: on.clock.inDays(20) })
    }
    const resumed = await pause(user._id, false)
    expect(resumed.json.data.client).toMatchObject({ paused: false, expiresAt: on.clock.inDays(20) })
    const [key] = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
    expect(key.expiresAt).toBe(on.clock.inDays(20))
    const later = await startProgram(on, app)
    expect((await later.call('POST', '/license', { licenseKey: license.key })).status).toBe(200)
    expect(program.session).not.toBe('')
  })

  test('has the same end as its license, in lists and files, while the pause lasts', async () => {
    const { user, license } = await activateKey(on, owner, app)
    await pause(user._id, true)
    on.clock.advance(10 * day)
    const [listed] = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
    const read = (await owner.call('GET', `/licenses/${license._id}`)).json.data.license
    const file = String((await owner.call('GET', `/licenses/export?format=csv&app=${app._id}`)).raw)
    for (const { expiresAt } of [await shown(), listed, read]) expect(expiresAt).toBe(on.clock.inDays(30))
    expect(file).toContain(on.clock.inDays(30))
  })

  test('without an end has none in the audit log after a pause', async () => {
    const { user, license } = await activateKey(on, owner, app)
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: null })
    await pause(user._id, true)
    await pause(user._id, false)
    const audit = on.database.db.selectFrom('audit').select('detail').where('target_id', '=', user._id)
    const { detail } = await audit.where('action', '=', 'end_user.resumed').executeTakeFirstOrThrow()
    expect(JSON.parse(detail ?? '')).toEqual({ before: null, after: null })
  })

  test('keeps a session, which reports the pause and goes on afterwards', async () => {
    const { program, user } = await activateKey(on, owner, app)
    await pause(user._id, true)
    on.clock.advance(hour)
    expect(refusal(await program.call('GET', '/session'))).toBe('pausedSub')
    await pause(user._id, true)
    await pause(user._id, false)
    expect((await program.call('GET', '/session')).json.data.user.expiresAt).toBe(on.clock.inDays(30))
  })

  test('gains nothing from an end that was set, extended or removed during the pause', async () => {
    const { user, license } = await activateKey(on, owner, app)
    await pause(user._id, true)
    on.clock.advance(5 * day)
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: on.clock.inDays(7) })
    expect((await shown()).expiresAt).toBe(on.clock.inDays(7))
    on.clock.advance(2 * day)
    await owner.call('PATCH', `/clients/${user._id}/extend`, { days: 3 })
    expect((await shown()).expiresAt).toBe(on.clock.inDays(10))
    on.clock.advance(day)
    await owner.call('DELETE', `/licenses/${license._id}`)
    on.clock.advance(day)
    expect(await shown()).toMatchObject({ status: 'expired', paused: true })
    await pause(user._id, false)
    expect(await shown()).toMatchObject({ status: 'expired', paused: false })
  })

  test('that had already ended stays ended', async () => {
    const { user, license } = await registerUser(on, owner, app)
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: on.clock.inDays(0) })
    await pause(user._id, true)
    on.clock.advance(day)
    expect((await pause(user._id, false)).json.data.client.status).toBe('expired')
  })

  test('redeems no further key', async () => {
    const { program, user } = await registerUser(on, owner, app)
    const more = single(await makeLicenses(on, owner, app))
    await pause(user._id, true)
    const upgrade = { username: 'alice', licenseKey: more.key }
    expect(refusal(await program.call('POST', '/upgrade', upgrade))).toBe('pausedSub')
  })
})
