import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filterRunning, pidOf } from '../../src/db/postgres/probe.ts'
import { activateKey, makeApp, type Owner, refusal, signUp } from '../actors.ts'
import { makePostgresCopy, startServer, type TestServer } from '../harness.ts'
import { whileOccupied } from '../occupied.ts'

let url: string
let on: TestServer
let owner: Owner

beforeEach(async () => {
  url = await makePostgresCopy()
  on = await startServer({ DATABASE_URL: url })
  owner = await signUp(on)
})
afterEach(() => on.close())

const own = (statement: string) =>
  statement.replace('database', `database "${new URL(url).pathname.slice(1)}"`)

async function run(...statements: string[]): Promise<void> {
  const admin = new pg.Client({ connectionString: url, options: '-c default_transaction_read_only=off' })
  await admin.connect()
  for (const statement of statements) await admin.query(statement)
  await admin.end()
}

/** Settings of a database apply to new connections only. */
const reconnect = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

const ready = async () => (await on.call('GET', '/ready')).status
const readyForChecks = async () => (await on.call('GET', '/ready?for=checks')).status

test('on a read-only PostgreSQL answers writes with 503, keeps reads and checks working, and recovers', async () => {
  const app = await makeApp(owner)
  const { program, license } = await activateKey(on, owner, app)
  await run(own('alter database set default_transaction_read_only = on'), reconnect)
  await expect.poll(readyForChecks).toBe(200)

  const login = { email: owner.email, password: owner.password }
  expect(refusal(await owner.call('POST', '/apps', { name: 'Borealis' }))).toBe('database_unavailable')
  expect(refusal(await on.call('POST', '/auth/login', { body: login }))).toBe('database_unavailable')
  const refused = await program.call('POST', '/license', { licenseKey: license.key })
  expect(refusal(refused)).toBe('database_unavailable')
  expect(refused.headers.signature).toBeDefined()
  // Each kind of connection notices by its first use that it was ended.
  await expect.poll(async () => (await owner.call('GET', '/apps')).status).toBe(200)
  await expect.poll(async () => (await program.call('GET', '/session')).status).toBe(200)
  const body = { appId: app.appId, licenseKey: license.key }
  const check = () => on.call('POST', '/client/validate', { body })
  await expect.poll(async () => (await check()).json.data?.valid).toBe(true)
  expect(refusal(await owner.call('POST', '/apps', { name: 'Borealis' }))).toBe('database_unavailable')
  await expect
    .poll(async () => (await on.call('GET', '/ready')).json)
    .toMatchObject({ code: 'unavailable', message: 'The database is read-only.' })
  expect(await readyForChecks()).toBe(200)

  // The connections that were read-only stay so: the server has to replace them.
  await run(own('alter database reset default_transaction_read_only'))
  await expect.poll(async () => (await owner.call('POST', '/apps', { name: 'Borealis' })).status).toBe(201)
  await expect.poll(ready).toBe(200)
})

test('answers a write that exceeds a statement timeout with 503', async () => {
  const app = await makeApp(owner)
  await run(
    "create function wait() returns trigger language plpgsql as 'begin perform pg_sleep(60); return new; end'",
    'create trigger wait before insert on licenses for each row execute function wait()',
    own("alter database set statement_timeout = '2s'"),
    reconnect,
  )
  await expect.poll(ready).toBe(200)
  const write = () => owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(30) })
  expect(refusal(await write())).toBe('database_unavailable')
  await expect.poll(async () => (await owner.call('GET', '/licenses')).status).toBe(200)
  await run('drop trigger wait on licenses')
  // A slow machine may exceed the two seconds.
  await expect.poll(async () => (await write()).status).toBe(201)
})

test('is ready while slow statements occupy all connections but those of checks', async () => {
  expect(await whileOccupied(on, ready)).toBe(200)
})

interface Wire {
  connection: { parse(statement: { text: string }): void; bind(): void; execute(): void; flush(): void }
}

test('a connection on which PostgreSQL waits for the rest of a message counts as lost after three seconds', async () => {
  const clients = [0, 1, 2].map(() => new pg.Client({ connectionString: url }))
  const [stuck, busy, probe] = clients as [pg.Client, pg.Client, pg.Client]
  for (const client of clients) client.on('error', () => {})
  await Promise.all(clients.map((client) => client.connect()))
  try {
    const { connection } = stuck as unknown as Wire
    connection.parse({ text: 'begin' })
    connection.bind()
    connection.execute()
    connection.flush()
    const sleeping = busy.query('select pg_sleep(600)').catch(() => {})
    const running = () => filterRunning(probe, [pidOf(stuck), pidOf(busy)])
    await expect.poll(running).toEqual(new Set([pidOf(stuck), pidOf(busy)]))
    await expect.poll(running).toEqual(new Set([pidOf(busy)]))
    await probe.query('select pg_terminate_backend($1)', [pidOf(busy)])
    await sleeping
  } finally {
    for (const client of clients) void client.end().catch(() => {})
  }
})
