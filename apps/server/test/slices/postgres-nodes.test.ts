import { setTimeout as wait } from 'node:timers/promises'
import { limits } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { DatabaseUnavailableError } from '../../src/db/failure.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  makePremium,
  refusal,
  signUp,
  single,
  startProgram,
} from '../actors.ts'
import { makePostgresCopy, makePostgresDatabase, startServer, type TestServer } from '../harness.ts'
import { findPgBouncer, startPgBouncer } from '../pgbouncer.ts'
import { statementsOf } from '../statements.ts'

/** Opens an event stream over the network; returns how many changes it has received so far. */
async function countChanges(on: TestServer, { token }: { token: string }, signal: AbortSignal) {
  const address = await on.server.listen({ port: 0, host: '127.0.0.1' })
  const events = await fetch(`${address}/api/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal,
  })
  let received = ''
  void (async () => {
    for await (const chunk of events.body ?? []) received += Buffer.from(chunk).toString()
  })().catch(() => {})
  return () => received.split('event: change').length - 1
}

describe('several nodes on one PostgreSQL', () => {
  const nodes = 6
  const rounds = 2

  test('migrate an empty database concurrently, and each migration runs once', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const url = await makePostgresDatabase()
      const databases = Array.from({ length: nodes }, () => openDatabase({ url, dataDir: '' }))
      // Connect every node first, so that all migrations begin at the same moment.
      await Promise.all(
        databases.map((database) => database.db.selectNoFrom(({ lit }) => lit(1).as('n')).execute()),
      )
      const ran = await Promise.all(databases.map((database) => migrate(database, migrations, { now: 1 })))
      expect(ran.flat()).toEqual(migrations.map(({ name }) => name))
      await Promise.all(databases.map((database) => database.close()))
    }
  })
})

test('a session that one node opens is signed in, used and ended on others', async () => {
  const url = await makePostgresCopy()
  const nodes = [await startServer({ DATABASE_URL: url }), await startServer({ DATABASE_URL: url })]
  const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
  try {
    const owner = await signUp(first)
    const app = await makeApp(owner)
    const license = single(await makeLicenses(first, owner, app))
    const { session } = await startProgram(first, app)
    const ask = (on: typeof first, method: string, path: string, body?: object) =>
      on.call(method, `/client${path}`, { token: session, headers: { 'keyward-app': app.appId }, body })
    const body = { licenseKey: license.key }
    expect((await ask(second, 'POST', '/license', body)).status).toBe(200)
    expect((await ask(first, 'GET', '/session')).status).toBe(200)
    expect((await ask(first, 'POST', '/logout')).status).toBe(200)
    expect((await ask(second, 'POST', '/license', body)).json.code).toBe('sessionUnauthed')
  } finally {
    for (const node of nodes) await node.close()
  }
})

test('prepares the read of concurrent checks', async () => {
  const on = await startServer({ DATABASE_URL: await makePostgresCopy() })
  try {
    const owner = await signUp(on)
    const app = await makeApp(owner)
    const { program } = await activateKey(on, owner, app)
    const headers = { 'keyward-app': app.appId }
    const check = () => on.call('GET', '/client/session', { token: program.session, headers })
    const sent = await statementsOf(on.database, async () => {
      const answers = await Promise.all(Array.from({ length: 60 }, check))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    })
    const reads = sent.filter(({ text }) => text.includes('client_sessions'))
    expect(reads.map(({ name }) => name)).toEqual(Array(60).fill('session'))
  } finally {
    await on.close()
  }
})

test('a change reaches other nodes although its notification failed at first', async () => {
  const url = await makePostgresCopy()
  const nodes = [await startServer({ DATABASE_URL: url }), await startServer({ DATABASE_URL: url })]
  const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
  const stop = new AbortController()
  try {
    const owner = await signUp(first)
    const changes = await countChanges(second, owner, stop.signal)
    // Changes of the sign-up arrive first.
    await wait(1000)
    const before = changes()
    if (first.database.dialect !== 'postgres') throw new Error('not PostgreSQL')
    const { pool } = first.database
    const query = pool.query.bind(pool)
    let failures = 0
    pool.query = async (statement) => {
      if (!statement.text.includes('pg_notify') || failures > 0) return query(statement)
      failures += 1
      throw new DatabaseUnavailableError('PostgreSQL does not answer')
    }
    await makeApp(owner)
    await expect.poll(changes).toBeGreaterThan(before)
    expect(failures).toBe(1)
  } finally {
    stop.abort()
    for (const node of nodes) await node.close()
  }
})

const pgBouncer = findPgBouncer()

describe.skipIf(pgBouncer === undefined)('behind PgBouncer in transaction mode (needs pgbouncer)', () => {
  test('answers concurrent program requests from two nodes and delivers live events', async () => {
    const direct = await makePostgresCopy()
    const pooler = await startPgBouncer(pgBouncer ?? '', direct)
    const nodes = [
      await startServer({ DATABASE_URL: pooler.url }),
      await startServer({ DATABASE_URL: pooler.url }),
    ]
    const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
    try {
      const owner = await signUp(first)
      await makePremium(first, owner)
      const app = await makeApp(owner)
      const license = single(await makeLicenses(first, owner, app))
      const { program } = await activateKey(first, owner, app)
      const session = { token: program.session, headers: { 'keyward-app': app.appId } }
      const checks = Array.from({ length: 160 }, (_, at) => {
        const on = at % 2 === 0 ? first : second
        return at % 4 < 2
          ? on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey: license.key } })
          : on.call('GET', '/client/session', session)
      })
      const codes = (await Promise.all(checks)).map(({ status, json }) => `${status} ${json.code ?? ''}`)
      expect(codes).toEqual(checks.map(() => '200 '))

      const check = () => first.call('GET', '/client/session', session)
      const sixty = () =>
        Promise.all(Array.from({ length: 60 }, () => makeLicenses(first, owner, app).then(check)))
      const sent = await statementsOf(first.database, sixty)
      expect(sent.filter(({ name }) => name !== undefined)).toEqual([])

      const stop = new AbortController()
      const changes = await countChanges(first, owner, stop.signal)
      await wait(500)
      const before = changes()
      await makeLicenses(first, owner, app)
      await expect.poll(changes).toBeGreaterThan(before)
      await wait(1100)
      const seen = changes()
      await second.call('POST', '/apps', { token: owner.token, body: { name: 'Borealis' } })
      await expect.poll(changes).toBeGreaterThan(seen)
      stop.abort()
    } finally {
      for (const node of nodes) await node.close()
      await pooler.stop()
    }
  })

  test('fills the limit of an app exactly when 40 callers on two nodes create licenses', async () => {
    const pooler = await startPgBouncer(pgBouncer ?? '', await makePostgresCopy())
    const nodes = [
      await startServer({ DATABASE_URL: pooler.url }),
      await startServer({ DATABASE_URL: pooler.url }),
    ]
    const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
    try {
      const owner = await signUp(first)
      const app = await makeApp(owner)
      const max = limits.free.maxLicensesPerApp
      const body = { app: app._id, expiresAt: first.clock.inDays(30) }
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          (at % 2 === 0 ? first : second).call('POST', '/licenses', { token: owner.token, body }),
        ),
      )
      const refused = answers.filter(({ status }) => status !== 201).map(refusal)
      expect(refused).toEqual(Array(40 - max).fill('plan_limit_reached'))
      const { json } = await owner.call('GET', '/licenses')
      expect(json.data.pagination.total).toBe(max)
    } finally {
      for (const node of nodes) await node.close()
      await pooler.stop()
    }
  })
})
