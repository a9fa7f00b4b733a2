// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { sha256 } from '../../src/core/crypto.ts'
import { makeLicenses, type Owner, type Program, refusal, single, startProgram } from '../actors.ts'
import { sentParts, setLicense } from '../devices.ts'
import { appForEach, ownerForEach, serverForAll, tidyUp } from '../fixtures.ts'

const on = serverForAll()
const owner: Owner = ownerForEach(on)
const app = appForEach(owner)
const day = 86_400_000
const minute = 60_000

const allow = (rememberDays = 30) => owner.call('PUT', `/apps/${app._id}`, { settings: { rememberDays } })

async function signIn(hwid = 'pc-1') {
  const { key } = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)
  const { json } = await program.call('POST', '/license', { licenseKey: key, hwid, remember: true })
  return { program, key, user: json.data.user, token: json.data.deviceToken as string }
}
const resume = async (deviceToken: string, hwid = 'pc-1', program?: Program) =>
  (program ?? (await startProgram(on, app))).call('POST', '/resume', { deviceToken, hwid })
const next = async (token: string): Promise<string> => (await resume(token)).json.data.deviceToken
/** The next use, after the time in which programs that start together share a token. */
const nextLater = async (token: string): Promise<string> => {
  on.clock.advance(minute)
  return next(token)
}

test('a device stays signed in beyond its session, without key or password', async () => {
  await allow()
  const { token, user } = await signIn()
  on.clock.advance(25 * 3_600_000)
  const program = await startProgram(on, app)
  const { json } = await resume(token, 'pc-1', program)
  expect(json.data.user).toMatchObject({ _id: user._id, username: user.username })
  expect((await program.call('GET', '/session')).json.data.user._id).toBe(user._id)
  expect(json.data.deviceToken).not.toBe(token)
})

test('a new app remembers a device for 30 days', async () => {
  const { token } = await signIn()
  on.clock.advance(30 * day - minute)
  const later = await resume(token)
  expect(later.status).toBe(200)
  on.clock.advance(30 * day + minute)
  expect(refusal(await resume(later.json.data.deviceToken))).toBe('sessionUnauthed')
})

test('an app remembers nothing with 0 days, nor without being asked, nor without a device', async () => {
  await allow(0)
  expect((await signIn()).token).toBeUndefined()
  await allow()
  const program = await startProgram(on, app)
  const { key } = single(await makeLicenses(on, owner, app))
  const quiet = await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
  expect(quiet.json.data).not.toHaveProperty('deviceToken')
  const other = single(await makeLicenses(on, owner, app))
  const unbound = await program.call('POST', '/license', { licenseKey: other.key, remember: true })
  expect(unbound.json.data).not.toHaveProperty('deviceToken')
})

test('a token copied to another machine that has a place is refused there, and still works on its own', async () => {
  await allow()
  const license = single(await makeLicenses(on, owner, app))
  await setLicense(on, license, { devices: 2 })
  const program = await startProgram(on, app)
  const body = { licenseKey: license.key, hwid: 'pc-1', remember: true }
  const { deviceToken } = (await program.call('POST', '/license', body)).json.data
  const other = await startProgram(on, app)
  expect((await other.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-2' })).status).toBe(200)
  const copied = await startProgram(on, app)
  expect(refusal(await resume(deviceToken, 'pc-2', copied))).toBe('hwidMismatch')
  expect(refusal(await copied.call('GET', '/session'))).toBe('sessionUnauthed')
  expect((await resume(deviceToken, 'pc-1')).status).toBe(200)
})

test('a token works once, and again only if its answer was lost', async () => {
  await allow()
  const { token: first } = await signIn()
  const second = await nextLater(first)
  const third = await nextLater(first)
  expect(third).not.toBe(second)
  expect(refusal(await resume(second))).toBe('sessionUnauthed')
})

test('a token whose answer was lost works again days later', async () => {
  await allow()
  const { token: first } = await signIn()
  await nextLater(first)
  on.clock.advance(3 * day)
  const third = await next(first)
  expect((await resume(await nextLater(third))).status).toBe(200)
})

test('programs that start together with one token all sign in, and get the same next token', async () => {
  await allow()
  const { token: first } = await signIn()
  on.clock.advance(minute)
  let held = [first]
  for (let round = 0; round < 4; round++) {
    const programs = await Promise.all(Array.from({ length: 32 }, () => startProgram(on, app)))
    const answers = await Promise.all(
      programs.map((program, at) => resume(held[at % held.length]!, 'pc-1', program)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const tokens = new Set(answers.map(({ json }) => json.data.deviceToken as string))
    expect(tokens.size).toBe(1)
    // Some have not stored the new token yet when the others start again.
    held = [...tokens, first]
    on.clock.advance(10_000)
  }
})

test('the token before one that this installation cannot make again gets a token that works', async () => {
  await allow()
  const { token: first } = await signIn()
  await nextLater(first)
  // An earlier version of the server stored a second token that was not made from the first.
  await on.database.db
    .updateTable('device_tokens')
    .set({ token_hash: sha256('kwd_other') })
    .execute()
  const second = await next(first)
  expect((await resume(second)).status).toBe(200)
  expect((await resume(await nextLater(second))).status).toBe(200)
})

test('a program that starts again and again replaces its token once a minute', async () => {
  await allow()
  const { token: first } = await signIn()
  on.clock.advance(minute)
  const tokens = [first]
  for (let start = 0; start < 13; start++) {
    tokens.push(await next(tokens.at(-1)!))
    on.clock.advance(minute / 6)
  }
  expect(new Set(tokens).size).toBe(4)
})

test('a copied token ends the remembered sign-in once both are used, also if the copy was used at once', async () => {
  await allow()
  const { token: first } = await signIn()
  const honest = await nextLater(first)
  const thief = await next(first)
  expect(thief).toBe(honest)
  const honestLater = await nextLater(honest)
  const thiefLater = await nextLater(thief)
  expect(thiefLater).not.toBe(honestLater)
  on.clock.advance(minute)
  expect(refusal(await resume(honestLater))).toBe('sessionUnauthed')
  expect(refusal(await resume(thiefLater))).toBe('sessionUnauthed')
})

test('a token that was replaced and is used again ends the remembered sign-in, the latest token included', async () => {
  await allow()
  const { token: first } = await signIn()
  const second = await nextLater(first)
  const third = await nextLater(second)
  expect(refusal(await resume(first))).toBe('sessionUnauthed')
  expect(refusal(await resume(third))).toBe('sessionUnauthed')
})

test('is refused on another device, in another app, and if it is changed', async () => {
  await allow()
  const { token } = await signIn()
  expect(refusal(await resume(token, 'pc-2'))).toBe('hwidMismatch')
  const { app: other } = (await owner.call('POST', '/apps', { name: 'Other' })).json.data
  expect(refusal(await resume(token, 'pc-1', await startProgram(on, other)))).toBe('sessionUnauthed')
  for (const forged of ['', 'kwd_x', `${token}x`, token.replace('dtk_', 'dtk_0'), 'kwd_a.dtk_b'])
    expect(refusal(await resume(forged))).toBe('sessionUnauthed')
  expect((await resume(token)).status).toBe(200)
})

test('a ban refuses without ending it; freeing the device and deleting the end user end it', async () => {
  await allow()
  const { token, user } = await signIn()
  const ban = (is_banned: boolean) => owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned })
  await ban(true)
  expect(refusal(await resume(token))).toBe('userBanned')
  await ban(false)
  const second = await next(token)
  await owner.call('PATCH', `/clients/${user._id}/reset-hwid`)
  expect(refusal(await resume(second))).toBe('sessionUnauthed')

  const another = await signIn()
  await owner.call('DELETE', `/clients/${another.user._id}`)
  expect(refusal(await resume(another.token))).toBe('sessionUnauthed')
})

test("ends after the app's days without use, and when the app stops remembering", async () => {
  await allow(2)
  const { token } = await signIn()
  on.clock.advance(day)
  const second = await next(token)
  on.clock.advance(1.5 * day)
  const third = await next(second)
  on.clock.advance(2 * day)
  expect(refusal(await resume(third))).toBe('sessionUnauthed')
  await tidyUp(on)
  const rows = await on.database.db.selectFrom('device_tokens').select('id').execute()
  expect(rows.filter(({ id }) => third.endsWith(id))).toEqual([])

  const { token: late } = await signIn()
  await allow(0)
  expect(refusal(await resume(late))).toBe('sessionUnauthed')
})

test('a device has one token, stored as a hash', async () => {
  await allow()
  const { token, key } = await signIn()
  const program = await startProgram(on, app)
  const again = await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1', remember: true })
  expect(refusal(await resume(token))).toBe('sessionUnauthed')
  const rows = await on.database.db.selectFrom('device_tokens').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(again.json.data.deviceToken)
  expect((await resume(again.json.data.deviceToken)).status).toBe(200)
})

test('two machines with the same hardware id are remembered each, and resume as themselves', async () => {
  await allow()
  const license = single(await makeLicenses(on, owner, app))
  await setLicense(on, license, { devices: 2 })
  const machine = (name: string) => ({
    hwid: 'image',
    device: {
      name,
      parts: sentParts(app, { machine: `m-${name}`, board: `b-${name}`, disk: `d-${name}`, network: name }),
    },
  })
  const machines = [machine('one'), machine('two')]
  const tokens: string[] = []
  for (const sent of machines) {
    const program = await startProgram(on, app)
    const body = { licenseKey: license.key, remember: true, ...sent }
    const { json } = await program.call('POST', '/license', body)
    expect(json.data.user.devices.used).toBe(tokens.length + 1)
    tokens.push(json.data.deviceToken)
  }
  for (const [at, sent] of machines.entries()) {
    const program = await startProgram(on, app)
    const { status } = await program.call('POST', '/resume', { deviceToken: tokens[at], ...sent })
    expect(status).toBe(200)
  }
})

test('sign-ins on one device at the same time, while its devices are freed, all get an answer', async () => {
  await allow()
  const { key, user } = await signIn()
  const programs = await Promise.all(Array.from({ length: 12 }, () => startProgram(on, app)))
  const body = { licenseKey: key, hwid: 'pc-1', remember: true }
  const answers = await Promise.all(
    programs.flatMap((program, at) => [
      program.call('POST', '/license', body),
      ...(at % 3 === 0 ? [owner.call('PATCH', `/clients/${user._id}/reset-hwid`)] : []),
    ]),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const rows = await on.database.db
    .selectFrom('device_tokens')
    .select('id')
    .where('client_id', '=', user._id)
    .execute()
  expect(rows.length).toBeLessThanOrEqual(1)
})
