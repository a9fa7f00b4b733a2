// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { activateKey, refusal, registerUser, startProgram } from '../actors.ts'
import { logIn, openPage, signInByKey } from '../customer-actor.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeRequest } from '../offline-machine.ts'

const on = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off', SMTP_URL: 'smtp://127.0.0.1:9' })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const unknown = 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA'

/** How often each code answers so many guesses. */
async function guess(times: number, one: () => Promise<Awaited<ReturnType<typeof logIn>>>) {
  const counts: Record<string, number> = {}
  for (let at = 0; at < times; at += 50) {
    const answers = await Promise.all(Array.from({ length: Math.min(50, times - at) }, one))
    for (const answer of answers) {
      const code = refusal(answer)
      counts[code] = (counts[code] ?? 0) + 1
    }
  }
  return counts
}

test('of 1,000 guesses at keys an address has 100 in 15 minutes, together with those of programs', async () => {
  await openPage(owner, app)
  const { license } = await activateKey(on, owner, app)
  const from = '10.1.0.1'
  const counts = await guess(1000, () => logIn(on, app, { licenseKey: unknown }, { from }))
  expect(counts).toEqual({ keyNotFound: 100, rate_limited: 900 })
  expect(refusal(await logIn(on, app, { licenseKey: license.key }, { from }))).toBe('rate_limited')
  const program = await startProgram(on, app, { from })
  expect(refusal(await program.call('POST', '/license', { licenseKey: license.key }))).toBe('rate_limited')
  expect((await logIn(on, app, { licenseKey: license.key }, { from: '10.1.0.2' })).status).toBe(200)
})

test('of 1,000 guesses at links an address has 30 in 15 minutes', async () => {
  await openPage(owner, app)
  const from = '10.1.1.1'
  let at = 0
  const counts = await guess(1000, () => logIn(on, app, { mailToken: `kwl_${++at}` }, { from }))
  expect(counts).toEqual({ customer_link_invalid: 30, rate_limited: 970 })
})

test('wrong passwords count together with those of programs', async () => {
  await openPage(owner, app)
  const { program } = await registerUser(on, owner, app)
  for (let at = 0; at < 5; at += 1) {
    await program.call('POST', '/login', { username: 'alice', password: 'wrong' })
    expect(refusal(await logIn(on, app, { username: 'alice', password: 'wrong' }))).toBe(
      'customer_login_failed',
    )
  }
  const right = { username: 'alice', password: 'swordfish' }
  expect(refusal(await logIn(on, app, right))).toBe('rate_limited')
  expect(refusal(await program.call('POST', '/login', right))).toBe('rate_limited')
})

test('requests for offline files are no way to guess keys', async () => {
  await openPage(owner, app)
  const { license } = await activateKey(on, owner, app)
  const { license: foreign } = await activateKey(on, owner, app)
  const customer = await signInByKey(on, app, license.key)
  const ask = (licenseKey: string) =>
    customer.call('POST', '/offline-activations', { request: makeRequest(app, { licenseKey }) })
  const [known, missing] = [await ask(foreign.key), await ask(unknown)]
  expect(refusal(known)).toBe('offline_refused')
  expect(known.raw.toString()).toBe(missing.raw.toString())
  expect(await guess(200, () => ask(unknown))).toEqual({ offline_refused: 98, rate_limited: 102 })
  on.clock.advance(15 * minute)
  expect((await ask(license.key)).status).toBe(201)
})

test('mails are limited for each mailbox, each address and each app', async () => {
  await openPage(owner, app)
  const ask = (email: string, from: string) =>
    on.call('POST', `/customer/${app.appId}/mail`, { body: { email }, from })
  const statuses = async (asks: Promise<{ status: number }>[]) => {
    const counts = Map.groupBy(await Promise.all(asks), ({ status }) => status)
    return Object.fromEntries([...counts].map(([status, all]) => [status, all.length]))
  }
  const toOne = Array.from({ length: 10 }, (_, at) => ask('ada@engines.example', `10.2.0.${at}`))
  expect(await statuses(toOne)).toEqual({ 200: 3, 429: 7 })
  const fromOne = Array.from({ length: 40 }, (_, at) => ask(`a${at}@engines.example`, '10.3.0.1'))
  expect(await statuses(fromOne)).toEqual({ 200: 30, 429: 10 })
  const ofApp = on.database.db.updateTable('attempts').set((eb) => ({ count: eb('count', '+', 999 - 33) }))
  // 33 were counted for the app: what its other limits refused is not.
  const key = sha256(`customer mails of app\n${app._id}`)
  const counted = await ofApp.where('key', '=', key).returning('count').executeTakeFirstOrThrow()
  expect(Number(counted.count)).toBe(999)
  expect((await ask('last@engines.example', '10.4.0.1')).status).toBe(200)
  expect((await ask('beyond@engines.example', '10.4.0.2')).status).toBe(429)
  on.clock.advance(60 * minute)
  expect((await ask('beyond@engines.example', '10.4.0.2')).status).toBe(200)
})
