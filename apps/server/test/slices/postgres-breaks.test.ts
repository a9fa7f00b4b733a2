import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { readPatiently } from '../../src/db/index.ts'
import { hasEnded, queryOnce } from '../../src/db/postgres/probe.ts'
import { activateKey, makeApp, makePremium, type Owner, refusal, signUp, single } from '../actors.ts'
import { openBreakingGate } from '../breaking-gate.ts'
import { makePostgresCopy, startServer, type TestServer } from '../harness.ts'
import { findPgBouncer, startPgBouncer } from '../pgbouncer.ts'
import { startPrivateCluster } from '../postgres-cluster.ts'
import { recount } from '../recount.ts'

const rows = 800

async function prepare(url: string) {
  const on = await startServer({ DATABASE_URL: url })
  const owner = await signUp(on)
  await makePremium(on, owner)
  const app = await makeApp(owner)
  return { on, owner, app }
}

const importing = (owner: Owner, app: { appId: string }, count = rows) => {
  const csv = ['expiresAt', ...Array(count).fill('2036-01-01')].join('\n')
  return owner.call('POST', '/licenses/import', { app: app.appId, csv, dryRun: false })
}

/** Repeats a call that met a broken connection before its work began, which is an ordinary 503. */
async function untilBegun(call: () => ReturnType<Owner['call']>) {
  for (;;) {
    const answer = await call()
    if (answer.status !== 503) return answer
    expect(refusal(answer)).toBe('database_unavailable')
  }
}

const countLicenses = async (owner: Owner): Promise<number> =>
  (await untilBegun(() => owner.call('GET', '/licenses'))).json.data.pagination.total

async function records(on: TestServer, action: 'licenses.slice_deleted' | 'licenses.imported') {
  const found = await readPatiently(() =>
    on.database.db.selectFrom('audit').select('detail').where('action', '=', action).execute(),
  )
  return found.reduce((sum, { detail }) => sum + JSON.parse(detail ?? '{}').count, 0)
}

async function expectCountsToBeRight(on: TestServer): Promise<void> {
  const { kept, counted } = await readPatiently(() => recount(on))
  expect(kept).toEqual(counted)
}

/** Ends all connections to the database at some random moments during `work`; returns its result and how many. */
async function whileEnding<T>(url: string, work: () => Promise<T>): Promise<{ result: T; ended: number }> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const state = { isOver: false, ended: 0 }
  const ending = (async () => {
    // A transaction may take longer than one wait.
    for (let time = 0; time < 6 && !state.isOver; time += 1) {
      await wait(Math.random() * 150)
      const { rowCount } = await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      )
      state.ended += rowCount ?? 0
    }
  })()
  try {
    const result = await work()
    return { result, ended: state.ended }
  } finally {
    state.isOver = true
    await ending
    await admin.end()
  }
}

const pgBouncer = findPgBouncer()
const ways: [way: string, via: (direct: string) => Promise<{ url: string; stop(): Promise<void> }>][] = [
  ['PostgreSQL itself', async (url) => ({ url, stop: async () => {} })],
  ...(pgBouncer
    ? [['PgBouncer in transaction mode', (url: string) => startPgBouncer(pgBouncer, url)] as (typeof ways)[0]]
    : []),
]

describe.each(ways)('while connections end at random moments, with %s', (_way, via) => {
  test('an import, an export and a mass delete do their work once and completely', async () => {
    const direct = await makePostgresCopy()
    const way = await via(direct)
    const { on, owner, app } = await prepare(way.url)
    for (let used = 0; used < 5; used += 1) await activateKey(on, owner, app)
    let ended = 0
    const among = async <T>(work: () => Promise<T>): Promise<T> => {
      const done = await whileEnding(direct, work)
      ended += done.ended
      return done.result
    }
    try {
      let rounds = 0
      for (let others = 5; ended < 5; others = 0) {
        rounds += 1
        const imported = await among(() => untilBegun(() => importing(owner, app)))
        expect(imported.json.data.created).toBe(rows)
        expect(await countLicenses(owner)).toBe(rows + others)
        const file = await among(() => untilBegun(() => owner.call('GET', '/licenses/export?format=json')))
        expect(file.json).toHaveLength(rows + others)
        const deletion = await among(() => untilBegun(() => owner.call('DELETE', '/licenses')))
        expect(deletion.json.data).toEqual({ deletedCount: rows + others })
      }
      expect(await records(on, 'licenses.imported')).toBe(rows * rounds)
      expect(await records(on, 'licenses.slice_deleted')).toBe(rows * rounds + 5)
      await expectCountsToBeRight(on)
    } finally {
      await on.close()
      await way.stop()
    }
  })
})

describe.each(['before', 'after', 'during'] as const)('a connection that breaks %s a commit', (when) => {
  async function behindGate(text: string) {
    const direct = new URL(await makePostgresCopy())
    const gate = await openBreakingGate(direct, text, when)
    return { direct, gate, ...(await prepare(gate.url)) }
  }

  /** Makes the commit of a deletion or insertion take a second. */
  async function delayCommits(direct: URL, event: 'insert' | 'delete') {
    const admin = new pg.Client({ connectionString: direct.toString() })
    await admin.connect()
    await admin.query(`create function wait() returns trigger language plpgsql as
      'begin if not exists (select from pg_locks where locktype = ''advisory'' and objid = 7) then
        perform pg_advisory_xact_lock(7); perform pg_sleep(1); end if; return null; end';
      create constraint trigger wait after ${event} on licenses deferrable initially deferred
        for each row execute function wait()`)
    await admin.end()
  }

  test('does not end a mass delete, whose rows and records count once', async () => {
    const { direct, gate, on, owner, app } = await behindGate('licenses.slice_deleted')
    try {
      await importing(owner, app, 200)
      if (when === 'during') await delayCommits(direct, 'delete')
      gate.arm(2)
      expect((await owner.call('DELETE', '/licenses')).json.data).toEqual({ deletedCount: 200 })
      expect(gate.broken()).toBe(2)
      expect(await records(on, 'licenses.slice_deleted')).toBe(200)
      await expectCountsToBeRight(on)
    } finally {
      await on.close()
      gate.close()
    }
  })

  test('does not import twice', async () => {
    const { direct, gate, on, owner, app } = await behindGate('licenses.imported')
    try {
      if (when === 'during') await delayCommits(direct, 'insert')
      gate.arm()
      const { json } = await importing(owner, app, 60)
      expect(json.data.created).toBe(60)
      expect(gate.broken()).toBe(1)
      const { json: stored } = await owner.call('GET', '/licenses?limit=200')
      const keys = stored.data.licenses.map((license: { key: string }) => license.key)
      expect(keys.toSorted()).toEqual(json.data.rows.map((row: { key: string }) => row.key).toSorted())
      expect(await records(on, 'licenses.imported')).toBe(60)
    } finally {
      await on.close()
      gate.close()
    }
  })

  test('does not extend twice', async () => {
    const { gate, on, owner, app } = await behindGate('licenses.extended')
    try {
      const { json } = await importing(owner, app, 1)
      const { _id } = single((await owner.call('GET', '/licenses')).json.data.licenses) as { _id: string }
      expect(json.data.created).toBe(1)
      gate.arm()
      const extended = await owner.call('POST', '/licenses/bulk', { action: 'extend', ids: [_id], days: 1 })
      expect(single<{ expiresAt: string }>(extended.json.data.licenses).expiresAt).toMatch(/^2036-01-02/)
      expect(gate.broken()).toBe(1)
      expect((await owner.call('GET', `/licenses/${_id}`)).json.data.license.expiresAt).toMatch(/^2036-01-02/)
    } finally {
      await on.close()
      gate.close()
    }
  })
})

test('a standby does not decide about a commit in doubt until it is promoted', async () => {
  const cluster = await startPrivateCluster()
  const query = (text: string) => queryOnce(cluster.url, async (probe) => (await probe.query(text)).rows[0])
  const later = String(2n ** 62n)
  try {
    expect(await hasEnded(cluster.url, later)).toBe(true)
    const { data_directory: directory } = await query('show data_directory')
    await cluster.crash()
    writeFileSync(join(directory, 'standby.signal'), '')
    await cluster.restart()
    expect(await query('select pg_is_in_recovery() as is')).toEqual({ is: true })
    expect(await hasEnded(cluster.url, later)).toBe(false)
    await query('select pg_promote(false)')
    await expect.poll(() => query('select pg_is_in_recovery() as is')).toEqual({ is: false })
    expect(await hasEnded(cluster.url, later)).toBe(true)
  } finally {
    await cluster.stop()
  }
})
