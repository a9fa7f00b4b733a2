import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { activateKey, makeApp, makePremium, type Owner, refusal, signUp } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { findPgBouncer, startPgBouncer } from '../pgbouncer.ts'
import { type PrivateCluster, type Standby, startPrivateCluster, startStandby } from '../postgres-cluster.ts'
import { rounds } from '../rounds.ts'

const pgBouncer = findPgBouncer()
/** A call that hangs takes longer on any machine; `npm run test:full` runs on one without other load. */
const limitMs = rounds(60_000, 10_000)
const away = 'Commits wait for a synchronous standby of the database.'
const [goesAway, comesBack] = [/^commits wait for a synchronous standby/, /confirmed again$/]

let primary: PrivateCluster
let standby: Standby
let admin: pg.Client
let on: TestServer
let owner: Owner
let lines: string[]

beforeAll(async () => {
  primary = await startPrivateCluster({ synchronous_commit: 'on', wal_sender_timeout: '0' })
  standby = await startStandby(primary, 'second')
  admin = new pg.Client({ connectionString: primary.url, options: '-c synchronous_commit=local' })
  await admin.connect()
  await admin.query("alter system set synchronous_standby_names = 'second'")
  await admin.query('select pg_reload_conf()')
  await untilSynchronous()
  lines = []
  on = await startServer(
    { DATABASE_URL: primary.url },
    { logLevel: 'info', log: { write: (line) => void lines.push(line) } },
  )
  owner = await signUp(on)
  await makePremium(on, owner)
})
afterAll(async () => {
  await standby?.signal('SIGCONT')
  await on?.close()
  await admin?.end()
  await standby?.stop()
  await primary?.stop()
})
beforeEach(() => {
  lines.length = 0
})

async function ask(text: string, values: unknown[] = []): Promise<unknown> {
  return (await admin.query(text, values)).rows[0]?.answer
}

const untilSynchronous = () =>
  vi.waitUntil(() => ask("select true as answer from pg_stat_replication where sync_state = 'sync'"), {
    timeout: 60_000,
  })
const backends = () =>
  ask(`select count(*)::int as answer from pg_stat_activity where application_name like 'keyward %'`)
const waiting = () => ask(`select count(*)::int as answer from pg_stat_activity where wait_event = 'SyncRep'`)
const messages = () => lines.map((line) => JSON.parse(line).msg as string)
const ready = () => on.call('GET', '/ready')
const recovers = () => expect.poll(async () => (await ready()).status, { timeout: 60_000 }).toBe(200)

test.each(['SIGSTOP', 'SIGKILL'] as const)(
  'a standby that ended by %s lets writes answer 503 in time, reads and checks go on, and all recovers',
  async (signal) => {
    const app = await makeApp(owner)
    const { program, license } = await activateKey(on, owner, app)
    const body = { app: app._id, expiresAt: on.clock.inDays(30) }
    const write = () => owner.call('POST', '/licenses', body)
    const check = () =>
      on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: license.key } })
    await standby.signal(signal)

    const begun = performance.now()
    const writes = await Promise.all([
      ...Array.from({ length: 12 }, write),
      ...Array.from({ length: 12 }, (_, at) => owner.call('POST', '/apps', { name: `${signal} ${at}` })),
    ])
    const tookMs = performance.now() - begun
    expect(writes.map(refusal)).toEqual(writes.map(() => 'database_unavailable'))
    expect(tookMs).toBeLessThan(limitMs)
    expect((await ready()).json).toMatchObject({ code: 'unavailable', message: away })
    expect((await on.call('GET', '/ready?for=checks')).json.data).toEqual({ status: 'ready' })
    for (let more = 0; more < 40; more += 1) expect(refusal(await write())).toBe('database_unavailable')

    expect((await owner.call('GET', '/licenses')).status).toBe(200)
    expect((await program.call('GET', '/session')).status).toBe(200)
    expect((await check()).json.data.valid).toBe(true)
    // A lost connection of a waiting commit ends when the standby is back: there are few, however many writes come.
    expect(await waiting()).toBeLessThanOrEqual(12)
    expect(await backends()).toBeLessThanOrEqual(24)
    expect(messages().filter((msg) => goesAway.test(msg))).toHaveLength(1)

    if (signal === 'SIGSTOP') await standby.signal('SIGCONT')
    else await standby.start()
    await recovers()
    expect((await write()).status).toBe(201)
    expect(messages().filter((msg) => comesBack.test(msg))).toHaveLength(1)
    await expect.poll(waiting).toBe(0)
    await expect.poll(backends).toBeLessThanOrEqual(12)
    const counts = () => (on.database.dialect === 'postgres' ? on.database.pool.counts : undefined)
    await expect.poll(() => counts()?.waiting).toBe(0)
  },
)

test('a repeat with the same key answers only what the standby has, and creates nothing twice', async () => {
  const app = await makeApp(owner)
  const body = { app: app._id, expiresAt: on.clock.inDays(30), note: 'once' }
  const headers = { 'idempotency-key': 'while-the-standby-is-away' }
  const create = () => on.call('POST', '/licenses', { body, token: owner.token, headers })
  await standby.signal('SIGSTOP')
  for (let attempt = 0; attempt < 3; attempt += 1)
    expect(refusal(await create())).toBe('database_unavailable')
  await standby.signal('SIGCONT')
  await expect.poll(async () => (await create()).status, { timeout: 60_000 }).toBe(201)
  const { json } = await owner.call('GET', `/licenses?app=${app._id}`)
  expect(json.data.licenses).toHaveLength(1)
  expect((await create()).json.data.license.key).toBe(json.data.licenses[0].key)
})

test('an import waits for the standby, and is complete', async () => {
  const app = await makeApp(owner)
  const csv = `expiresAt,note\n${'2999-01-31,imported\n'.repeat(30)}`
  await standby.signal('SIGSTOP')
  const importing = owner.call('POST', '/licenses/import', { app: app._id, csv, dryRun: false })
  await expect.poll(waiting).toBeGreaterThan(0)
  expect(refusal(await owner.call('POST', '/apps', { name: 'Delphinus' }))).toBe('database_unavailable')
  await standby.signal('SIGCONT')
  expect((await importing).status).toBe(200)
  expect((await owner.call('GET', `/licenses?app=${app._id}`)).json.data.stats.total).toBe(30)
})

test.skipIf(!pgBouncer)('behind a pooler writes answer 503 too, and leave few connections', async () => {
  const pooler = await startPgBouncer(pgBouncer as string, primary.url)
  const node = await startServer({ DATABASE_URL: pooler.url })
  const write = (name: string) => node.call('POST', '/apps', { body: { name }, token: owner.token })
  try {
    await standby.signal('SIGSTOP')
    let round = 0
    const writesUntilNoted = async () => {
      const begun = performance.now()
      round += 1
      const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => write(`P ${round} ${at}`)))
      expect(answers.map(refusal)).toEqual(answers.map(() => 'database_unavailable'))
      expect(performance.now() - begun).toBeLessThan(limitMs)
      return (await node.call('GET', '/ready')).json.message
    }
    await expect.poll(writesUntilNoted, { timeout: 60_000 }).toBe(away)
    expect(await waiting()).toBeLessThanOrEqual(12)
    expect((await node.call('GET', '/apps', { token: owner.token })).status).toBe(200)
    await standby.signal('SIGCONT')
    await expect.poll(async () => (await write('P')).status, { timeout: 60_000 }).toBe(201)
  } finally {
    await standby.signal('SIGCONT')
    await node.close()
    await pooler.stop()
  }
})

test('commits work again without the standby once the operator removes it', async () => {
  await standby.signal('SIGSTOP')
  expect(refusal(await owner.call('POST', '/apps', { name: 'Borealis' }))).toBe('database_unavailable')
  await admin.query("alter system set synchronous_standby_names = ''")
  await admin.query('select pg_reload_conf()')
  await recovers()
  expect((await owner.call('POST', '/apps', { name: 'Corona' })).status).toBe(201)
  await standby.signal('SIGCONT')
  await admin.query("alter system set synchronous_standby_names = 'second'")
  await admin.query('select pg_reload_conf()')
  await untilSynchronous()
})
