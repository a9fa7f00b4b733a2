import { connect, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PostgresPool } from '../../src/db/postgres/pool.ts'
import { makeApp, makeLicenses, makePremium, type Owner, refusal, signUp } from '../actors.ts'
import { makePostgresCopy, startServer, type TestServer } from '../harness.ts'
import { whileOccupied } from '../occupied.ts'
import { rounds } from '../rounds.ts'
import { type Gate, openGate } from '../tcp-gate.ts'

/** A call that hangs takes longer on any machine; `npm run test:full` runs on one without other load. */
const limitMs = rounds(60_000, 5000)
const many = 40

describe('an outage of PostgreSQL', () => {
  let direct: URL
  let gate: Gate
  let on: TestServer
  let owner: Owner

  beforeEach(async () => {
    direct = new URL(await makePostgresCopy())
    gate = await openGate({ host: direct.hostname, port: Number(direct.port) })
    const url = Object.assign(new URL(direct), { hostname: '127.0.0.1', port: String(gate.port) })
    on = await startServer({ DATABASE_URL: url.toString() })
    owner = await signUp(on)
  })
  afterEach(async () => {
    gate.thaw()
    await on.close().catch(() => {})
    await gate.close()
  })

  const calls = [
    () => on.call('GET', '/ready'),
    () => owner.call('GET', '/apps'),
    () => owner.call('POST', '/apps', { name: 'Atlas' }),
    () => on.call('POST', '/auth/login', { body: { email: owner.email, password: owner.password } }),
    () => on.call('POST', '/client/init', { body: { appId: 'AAAAAAAA', secret: 'x', version: '1' } }),
    () => on.call('POST', '/client/validate', { body: { appId: 'AAAAAAAA', licenseKey: 'x' } }),
  ]

  async function timed(call: () => ReturnType<TestServer['call']>) {
    const begun = performance.now()
    const { status, json } = await call()
    return { status, code: json.code, isInTime: performance.now() - begun < limitMs }
  }

  const unavailable = { status: 503, code: 'database_unavailable', isInTime: true }
  const recovers = () => expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)

  test('while it hangs answers 503 within five seconds, and recovers afterwards', async () => {
    gate.freeze()
    const answers = await Promise.all(
      Array.from({ length: many }, (_, at) => timed(calls[at % calls.length] ?? calls[0]!)),
    )
    expect(answers).toEqual(answers.map(() => unavailable))
    expect(await timed(() => owner.call('GET', '/apps'))).toEqual(unavailable)
    expect(gate.open()).toBeLessThan(20)
    gate.thaw()
    await recovers()
    expect((await owner.call('POST', '/apps', { name: 'Borealis' })).status).toBe(201)
    await expect.poll(() => on.database.dialect === 'postgres' && on.database.pool.counts.waiting).toBe(0)
    expect(gate.open()).toBeLessThan(20)
  })

  test('while it hangs does not block shutdown', async () => {
    gate.freeze()
    const begun = performance.now()
    await on.server.close()
    await on.database.close()
    expect(performance.now() - begun).toBeLessThan(2 * limitMs)
  })

  test('while it is unreachable answers 503, and recovers afterwards', async () => {
    gate.cut()
    for (const call of calls) expect(await timed(call)).toEqual(unavailable)
    gate.mend()
    await recovers()
    expect((await owner.call('POST', '/apps', { name: 'Atlas' })).status).toBe(201)
  })

  test('detects dead connections within five seconds and opens new ones', async () => {
    await Promise.all(Array.from({ length: 10 }, () => owner.call('GET', '/apps')))
    gate.swallow()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => timed(() => owner.call('GET', '/apps'))),
    )
    expect(answers.filter(({ isInTime }) => !isInTime)).toEqual([])
    await recovers()
    expect((await owner.call('GET', '/apps')).status).toBe(200)
  })

  test('detects dead connections of checks, and opens new ones', async () => {
    const check = () => on.call('POST', '/client/validate', { body: { appId: 'AAAAAAAA', licenseKey: 'x' } })
    const answer = refusal(await check())
    await Promise.all(Array.from({ length: 10 }, check))
    gate.swallow()
    const answers = await Promise.all(Array.from({ length: 10 }, () => timed(check)))
    expect(answers).toEqual(answers.map(() => unavailable))
    await expect.poll(async () => refusal(await check())).toBe(answer)
  })

  test('accepts a late response to a query that has ended', async () => {
    if (on.database.dialect !== 'postgres') throw new Error('not PostgreSQL')
    const { pool } = on.database
    const query = (text: string) => pool.query({ text, values: [] })
    await query('select 1')
    gate.delay(350)
    // The pool suspects a connection after a second, and PostgreSQL has no query of it left then.
    expect((await query('select 1 as one from pg_sleep(0.95)')).rows).toEqual([{ one: 1 }])
  })

  test('ends a read of a check that PostgreSQL does not end itself', async () => {
    const pool = new PostgresPool(on.config.databaseUrl ?? '')
    try {
      const free = pool.reader('free', "select set_config('statement_timeout', '0', false) as free")
      const slow = pool.reader('slow', 'select 1 as n from pg_sleep(60)')
      for (let connection = 0; connection < 2; connection += 1) await free()
      await expect(slow()).rejects.toThrow('does not answer')
      expect(await free()).toEqual({ free: '0' })
    } finally {
      await pool.end()
    }
  })

  test('answers a check while slow statements occupy all other connections', async () => {
    const check = () => on.call('POST', '/client/validate', { body: { appId: 'AAAAAAAA', licenseKey: 'x' } })
    expect(refusal(await whileOccupied(on, check))).toBe('appDisabled')
  })

  test('a mass delete waits while it hangs, and deletes everything', async () => {
    await makePremium(on, owner)
    const app = await makeApp(owner)
    for (let more = 0; more < 4; more += 1) await makeLicenses(on, owner, app, 100)
    const other = new pg.Client({ connectionString: direct.toString() })
    await other.connect()
    try {
      await other.query(`create function wait() returns trigger language plpgsql as
        'begin perform pg_sleep(0.003); return old; end';
        create trigger wait before delete on licenses for each row execute function wait()`)
      const count = async () => (await other.query('select count(*)::int as n from licenses')).rows[0].n
      const deleting = owner.call('DELETE', '/licenses')
      await expect.poll(count).toBeLessThan(400)
      gate.freeze()
      expect(await timed(() => owner.call('GET', '/apps'))).toEqual(unavailable)
      await wait(3000)
      expect(await timed(() => owner.call('GET', '/apps'))).toEqual(unavailable)
      gate.thaw()
      expect((await deleting).json.data).toEqual({ deletedCount: 400 })
      expect(await count()).toBe(0)
    } finally {
      await other.end()
    }
  })

  test('counts as up once it answers the first question of the probe', async () => {
    const server = createServer((near) => {
      const far = connect({ host: direct.hostname, port: Number(direct.port) })
      const end = () => {
        near.destroy()
        far.destroy()
      }
      for (const socket of [near, far]) socket.on('error', () => {}).on('close', end)
      near.on('data', (chunk) => {
        if (!chunk.includes('pg_stat_activity')) far.write(chunk)
      })
      far.pipe(near)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const url = Object.assign(new URL(direct), { hostname: '127.0.0.1', port: String(port) })
    const pool = new PostgresPool(url.toString())
    try {
      const { rows } = await pool.query({ text: 'select 1 as one from pg_sleep(3)', values: [] })
      expect(rows).toEqual([{ one: 1 }])
    } finally {
      await pool.end()
      server.close()
    }
  })

  test('counts as up when its answer arrived while this process was busy', async () => {
    const pool = new PostgresPool(direct.toString())
    const query = pg.Client.prototype.query
    let isBlocked = false
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const sent = Reflect.apply(query, this, args)
      const until = performance.now() + 2000
      if (args[0] !== 'select 1' || isBlocked) return sent
      isBlocked = true
      while (performance.now() < until);
      return sent
    } as never)
    try {
      const { rows } = await pool.query({ text: 'select 1 as one from pg_sleep(1.5)', values: [] })
      expect(rows).toEqual([{ one: 1 }])
      expect(isBlocked).toBe(true)
    } finally {
      spy.mockRestore()
      await pool.end()
    }
  })

  test('answers 503 to a write blocked by a foreign lock; reads continue', async () => {
    const { json } = await owner.call('POST', '/apps', { name: 'Atlas' })
    const other = new pg.Client({ connectionString: on.config.databaseUrl })
    await other.connect()
    try {
      await other.query('begin; lock table apps in share mode')
      const waiting = owner.call('PUT', `/apps/${json.data.app._id}`, { name: 'Borealis' })
      expect((await owner.call('GET', '/apps')).status).toBe(200)
      expect(refusal(await waiting)).toBe('database_unavailable')
    } finally {
      await other.end()
    }
    const rename = () => owner.call('PUT', `/apps/${json.data.app._id}`, { name: 'Borealis' })
    await expect.poll(async () => (await rename()).status).toBe(200)
  })

  test('answers 503 to checks blocked by a foreign lock, and recovers afterwards', async () => {
    const check = () => on.call('POST', '/client/validate', { body: { appId: 'AAAAAAAA', licenseKey: 'x' } })
    const other = new pg.Client({ connectionString: on.config.databaseUrl })
    other.on('error', () => {})
    await other.connect()
    try {
      await other.query('begin; lock table licenses in access exclusive mode')
      const answers = await Promise.all(Array.from({ length: many }, check))
      expect(answers.map(refusal)).toEqual(answers.map(() => 'database_unavailable'))
      await other.query('rollback')
      expect(refusal(await check())).toBe('appDisabled')
    } finally {
      await other.end()
    }
  })

  test('lets a slow statement finish as long as PostgreSQL responds', async () => {
    if (on.database.dialect !== 'postgres') throw new Error('not PostgreSQL')
    const { rows } = await on.database.pool.query({ text: 'select 1 as one from pg_sleep(6)', values: [] })
    expect(rows).toEqual([{ one: 1 }])
  })
})
