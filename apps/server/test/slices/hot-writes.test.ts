import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { transact } from '../../src/db/transact.ts'
import { refusal, registerUser } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { recount } from '../recount.ts'
import { roundTripsOf, statementsOf } from '../statements.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
afterEach(async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

const create = (fields = {}) =>
  owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(30), ...fields })

test('locks the row shared by all callers of an app in the last statement before the commit', async () => {
  const sent = await statementsOf(on.database, create)
  const writes = sent.map(({ text }) => text).filter((text) => /^(insert|update|delete)/.test(text))
  expect(writes).toEqual([
    expect.stringContaining('insert into "audit"'),
    expect.stringMatching(/^insert into "audit_(lists|objects)"/),
    expect.stringContaining('insert into "webhook_deliveries"'),
    expect.stringContaining('insert into "licenses"'),
  ])
  const texts = sent.map(({ text }) => text)
  // Other nodes are notified after the commit, which may be before the response.
  const reads = texts
    .slice(texts.indexOf(writes.at(-1) ?? '') + 1)
    .filter((text) => /\bfrom\b/.test(text) && !text.startsWith('select pg_notify'))
  expect(reads).toEqual([])
})

test('returns a new license exactly as a later read does', async () => {
  const { json } = await create({ note: 'for a friend', count: 1 })
  const { json: listed } = await owner.call('GET', `/licenses?app=${app.appId}`)
  expect(listed.data.licenses).toEqual(json.data.licenses)
})

test('rejects a license of an app being deleted like one of a missing app', async () => {
  let answer: Promise<Answer> | undefined
  await transact(on.database.db, async (tx) => {
    await tx.deleteFrom('apps').where('id', '=', app._id).execute()
    answer = create()
    await pause(300)
  })
  const refused = await (answer as Promise<Answer>)
  expect(refused.status).toBe(404)
  expect(refusal(refused)).toBe('not_found')
})

test('creates one of many concurrent licenses with the same key', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  const answers = await Promise.all(Array.from({ length: 12 }, () => create({ key: 'ONE-KEY-FOR-ALL' })))
  const refused = answers.filter(({ status }) => status >= 300)
  expect(refused.map(refusal)).toEqual(Array(11).fill('key_taken'))
})

test.runIf(process.env.TEST_DATABASE === 'postgres')(
  'prepares a repeated statement once per connection',
  async () => {
    for (let call = 0; call < 7; call += 1) await create()
    const sent = await statementsOf(on.database, create)
    const inserts = sent.filter(({ text }) => text.startsWith('insert'))
    expect(inserts).toHaveLength(4)
    expect(inserts).toEqual(inserts.map(({ text }) => ({ text, name: expect.any(String) })))
  },
)

test.runIf(process.env.TEST_DATABASE === 'postgres')(
  'prepares the statements of a repeated sign-in',
  async () => {
    const { program, user } = await registerUser(on, owner, app)
    const login = { username: user.username, password: 'swordfish', hwid: 'hw-1' }
    const signIn = () => program.call('POST', '/login', login)
    for (let call = 0; call < 7; call += 1) await signIn()
    const sent = await statementsOf(on.database, signIn)
    const unnamed = sent.filter(({ name }) => name === undefined).map(({ text }) => text)
    // The activity log is written every second, and the queues of mails and webhooks are looked at.
    const own = unnamed.filter(
      (text) => !/insert into "activity|from "(mails|webhook_deliveries|reset_requests)"/.test(text),
    )
    expect(own.filter((text) => /^(select "|insert|update)/.test(text))).toEqual([])
  },
)

test.runIf(process.env.TEST_DATABASE === 'postgres')(
  'signs in with five round trips: session, name, reads, writes and commit',
  async () => {
    const { program, user } = await registerUser(on, owner, app)
    const login = { username: user.username, password: 'swordfish', hwid: 'hw-1' }
    const signIn = () => program.call('POST', '/login', login)
    for (let call = 0; call < 7; call += 1) expect(await signIn()).toMatchObject({ status: 200 })
    const trips = await roundTripsOf(on.database, signIn)
    const isOwn = (text: string) => /\b(clients|client_sessions|devices|daily_counts)\b/.test(text)
    const own = trips.map((sent) => sent.map(({ text }) => text)).filter((texts) => texts.some(isOwn))
    expect(own).toHaveLength(5)
    expect(own[2]?.[0]).toBe('begin')
    expect(own[4]).toContain('commit')
  },
)
