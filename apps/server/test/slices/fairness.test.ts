// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { get, type IncomingMessage } from 'node:http'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { Passwords } from '../../src/core/passwords/passwords.ts'
import { allEndpoints } from '../../src/http/openapi.ts'
import { readLines } from '../../src/modules/imports/imports.call.ts'
import { makeApp, makeType, type Owner, refusal, signUp, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { eventually } from '../eventually.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { type Answer, startServer, type TestServer } from '../harness.ts'
import { makeReseller } from '../reseller-actor.ts'
import { rounds } from '../rounds.ts'
import { countTurns, mostRowsInATurn } from '../turns.ts'

/** How many may wait for a hash. */
const queue = rounds(16, 128)
const on = serverForAll(
  {},
  {
    passwords: new Passwords({ queue }),
    gateSizes: { requests: { running: 2, waiting: 3 }, jobs: { running: 1, waiting: 1, waitMs: 20_000 } },
  },
)
const owner = premiumOwnerForAll(on)
const other = premiumOwnerForAll(on)

const concurrently = (count: number, call: () => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, call))
const outcomes = (answers: Answer[]) =>
  answers.map((answer) => (answer.status === 200 ? 'ok' : refusal(answer)))

describe('concurrent requests of one account', () => {
  test('beyond the limit are rejected with Retry-After; other accounts are unaffected', async () => {
    const [answers, others] = await Promise.all([
      concurrently(20, () => owner.call('GET', '/licenses')),
      concurrently(5, () => other.call('GET', '/licenses')),
    ])
    const rejected = answers.filter(({ status }) => status !== 200)
    expect(rejected.length).toBeGreaterThan(5)
    expect(rejected.length).toBeLessThanOrEqual(15)
    expect(new Set(outcomes(rejected))).toEqual(new Set(['too_many_at_once']))
    expect(rejected[0]?.headers['retry-after']).toBe('1')
    expect(outcomes(others)).toEqual(Array(5).fill('ok'))
    expect(outcomes(await concurrently(5, () => owner.call('GET', '/licenses')))).toEqual(Array(5).fill('ok'))
  })

  test('free their place after an error and after an unreadable body', async () => {
    for (let round = 0; round < 10; round += 1) {
      expect((await owner.call('GET', '/apps/app_none')).status).toBe(404)
      const broken = await on.server.inject({
        method: 'POST',
        url: '/api/apps',
        payload: '{',
        headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
      })
      expect(broken.json().code).toBe('invalid_json')
    }
    expect(outcomes(await concurrently(5, () => owner.call('GET', '/apps')))).toEqual(Array(5).fill('ok'))
  })

  test('are limited per reseller; programs are not limited', async () => {
    const app = await makeApp(owner)
    const [one, two] = [await makeReseller(on, owner, app), await makeReseller(on, owner, app)]
    const [first, second] = await Promise.all(
      [one, two].map((reseller) => concurrently(20, () => reseller.call('GET', '/profile'))),
    )
    for (const answers of [first, second]) {
      expect(new Set(outcomes(answers ?? []))).toEqual(new Set(['ok', 'too_many_at_once']))
      expect(answers?.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5)
    }
    const program = await startProgram(on, app)
    const checks = await concurrently(40, () => program.call('GET', '/session'))
    expect(new Set(checks.map(({ status }) => status))).toEqual(new Set([401]))
  })
})

async function addLicenses(to: TestServer, vendor: Owner, app: { _id: string }): Promise<void> {
  await sql`insert into licenses (id, owner_id, app_id, key, key_normalized, note, expires_at, created_at)
    with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 5000)
    select 'lic_' || i, ${vendor.id}, ${app._id}, 'KEY' || i, 'KEY' || i, ${'n'.repeat(2000)}, 1, 1
    from numbers`.execute(to.database.db)
}

/** Starts an export and reads nothing of it; larger than the socket buffers of both sides. */
async function download(from: TestServer, vendor: { token: string }): Promise<IncomingMessage> {
  if (!from.server.server.listening) await from.server.listen({ port: 0, host: '127.0.0.1' })
  const [address] = from.server.addresses() as { port: number }[]
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${vendor.token}` }
    const url = `http://127.0.0.1:${address?.port}/api/licenses/export?format=json`
    get(url, { headers, agent: false }, resolve).on('error', reject)
  })
}

describe('exports, imports and deletions', () => {
  const jobs = allEndpoints.filter(({ endpoint }) => endpoint.job).map(({ name }) => name)

  test('are all jobs', () => {
    expect(jobs).toEqual([
      'vendors.deleteAccount',
      'apps.remove',
      'audit.export',
      'licenses.removeAll',
      'licenseTypes.update',
      'customers.remove',
      'customers.export',
      'portal.exportLicenses',
      'portal.removeLicenses',
      'exposure.exportCustomers',
      'exposure.notify',
      'exposure.evidence',
      'bulk.exportLicenses',
      'bulk.exportClients',
      'bulk.importLicenses',
      'imports.putFile',
      'imports.report',
      'settings.reset',
    ])
  })

  test('run one at a time: a second waits, a third is rejected, other requests continue', async () => {
    const app = await makeApp(owner)
    await addLicenses(on, owner, app)
    const stalled = await download(on, owner)
    const exports = [owner.call('GET', '/clients/export'), owner.call('GET', '/clients/export')]
    const rejected = await Promise.race(exports)
    expect(refusal(rejected)).toBe('job_running')
    expect(rejected.headers['retry-after']).toBe('10')
    expect((await owner.call('GET', '/apps')).status).toBe(200)
    stalled.destroy()
    expect(outcomes(await Promise.all(exports)).sort()).toEqual(['job_running', 'ok'])
  })

  test('of all API keys of a vendor run one at a time, beside those of the console', async () => {
    const jobs = { running: 1, waiting: 1, waitMs: 50 }
    const strict = await startServer({}, { gateSizes: { jobs } })
    try {
      const vendor = await signUp(strict)
      await addLicenses(strict, vendor, await makeApp(vendor))
      const [one, two] = [await makeApiKey(strict, vendor), await makeApiKey(strict, vendor)]
      const stalled = await download(strict, { token: one.key })
      expect(refusal(await two.call('GET', '/licenses/export'))).toBe('job_running')
      expect((await vendor.call('GET', '/licenses/export')).status).toBe(200)
      stalled.on('error', () => {}).destroy()
      await eventually(async () => expect((await two.call('GET', '/licenses/export')).status).toBe(200))
    } finally {
      await strict.close()
    }
  })

  test('abort a download that the client does not read', async () => {
    const jobs = { running: 1, waiting: 1, waitMs: 30_000 }
    const stallable = await startServer({}, { gateSizes: { jobs, stalledMs: 300 } })
    try {
      const vendor = await signUp(stallable)
      await addLicenses(stallable, vendor, await makeApp(vendor))
      const stalled = await download(stallable, vendor)
      expect((await vendor.call('GET', '/clients/export')).status).toBe(200)
      stalled.on('error', () => {}).destroy()
    } finally {
      await stallable.close()
    }
  })

  test('free their place after a HEAD request and after a rejected one', async () => {
    for (let round = 0; round < 4; round += 1) {
      const head = await on.server.inject({
        method: 'HEAD',
        url: '/api/licenses/export',
        headers: { authorization: `Bearer ${owner.token}` },
      })
      expect(head.statusCode).toBe(200)
      expect((await owner.call('GET', '/licenses/export?app=app_none')).status).toBe(404)
    }
    expect((await owner.call('GET', '/clients/export')).status).toBe(200)
  })

  test('succeed one after the other', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect((await owner.call('GET', '/licenses/export')).status).toBe(200)
      expect((await owner.call('DELETE', '/licenses')).status).toBe(200)
    }
  })
})

const note = 'n'.repeat(190)
const csvOf = (rows: number) =>
  ['expiresAt,note', ...Array.from({ length: rows }, () => `2036-01-01,${note}`)].join('\n')

const target = { ownerId: '', appId: '', types: new Map(), now: 0 }

test('parses a file of 5,000 lines in slices that yield', async () => {
  const { turns, result } = await countTurns(() => readLines(csvOf(5000), true, target))
  expect(result.lines).toHaveLength(5000)
  expect(turns).toBeGreaterThanOrEqual(50)
})

test('rejects too many lines early', async () => {
  await expect(readLines(csvOf(5001), true, target)).rejects.toThrow('At most 5000 rows')
})

describe.runIf(process.env.TEST_DATABASE !== 'postgres')('on the embedded database', () => {
  const vendor = premiumOwnerForAll(on)
  const dataset = 3000
  let app: Awaited<ReturnType<typeof makeApp>>
  beforeAll(async () => {
    app = await makeApp(vendor)
    await vendor.call('POST', '/licenses/import', { app: app._id, csv: csvOf(dataset) })
    const reseller = await makeReseller(on, vendor, app, 1000)
    await reseller.call('POST', '/licenses', { count: 1000, expiresAt: on.clock.inDays(9) })
    resellerCall = reseller.call
    await sql`insert into clients (id, owner_id, app_id, username, username_normalized, expires_at, created_at)
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${dataset})
      select 'usr_' || i, ${vendor.id}, ${app._id}, 'user' || i, 'user' || i, 1, 1
      from numbers`.execute(on.database.db)
  })
  let resellerCall: Awaited<ReturnType<typeof makeReseller>>['call']

  test.each<[string, () => Promise<Answer>, number]>([
    ['an export as CSV', () => vendor.call('GET', '/licenses/export'), 800],
    ['an export as JSON', () => vendor.call('GET', '/licenses/export?format=json'), 800],
    ['a dry run of 3,000 rows', () => importRows(true), 800],
    ['an import of 3,000 rows', () => importRows(false), 800],
    // A page reads the numbers of its rows before the rows.
    ['the list of licenses', () => vendor.call('GET', '/licenses?limit=200'), 500],
    ['the ids of licenses', () => vendor.call('GET', '/licenses/ids'), 5000],
    ['the list of end users', () => vendor.call('GET', '/clients?limit=200'), 500],
    ['the ids of end users', () => vendor.call('GET', '/clients/ids'), 5000],
    ['the list of resellers', () => vendor.call('GET', '/resellers'), 300],
    ['the dashboard', () => vendor.call('GET', '/resellers/dashboard/data'), 300],
    ['the list of a reseller', () => resellerCall('GET', '/licenses'), 300],
    ['the deletion of all licenses', () => vendor.call('DELETE', `/licenses?app=${app._id}`), 3000],
  ])('handles few rows per turn for %s', async (_what, call, most) => {
    const rows = await mostRowsInATurn(on, async () => {
      expect((await call()).status).toBe(200)
    })
    expect(rows).toBeGreaterThan(0)
    expect(rows).toBeLessThanOrEqual(most)
  })

  test('begins few trials of 40 addresses per turn, so that checks are answered in between', async () => {
    const trialApp = await makeApp(vendor)
    await makeType(vendor, trialApp, { trial: true })
    const programs = await Promise.all(Array.from({ length: 41 }, () => startProgram(on, trialApp)))
    const [first, ...others] = programs.map((program, at) => async () => {
      const from = `2001:db8:${at}::1`
      expect((await program.call('POST', '/trial', { hwid: `pc-${at}` }, { from })).status).toBe(200)
    })
    if (!first) throw new Error('there is a first program')
    const baseline = await mostRowsInATurn(on, first)
    const most = await mostRowsInATurn(on, () => Promise.all(others.map((start) => start())))
    // All at once handle 40 times as many; how many share a turn varies with the load of the machine.
    expect(most).toBeLessThanOrEqual(12 * baseline)
  })

  test('deletes the rows of an app before the app, so nothing is left to cascade', async () => {
    const doomed = await makeApp(vendor)
    await vendor.call('POST', '/licenses/import', { app: doomed._id, csv: csvOf(300) })
    await sql`insert into client_sessions (id, app_id, token_hash, created_at, expires_at)
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 3000)
      select 'ses_' || i, ${doomed._id}, 'hash' || i, 1, 2 from numbers`.execute(on.database.db)
    const { database } = on
    if (database.dialect !== 'sqlite') throw new Error('an embedded database')
    const { writer } = database.handles
    const tables = [
      'client_sessions',
      'license_counts',
      'license_blocks',
      'license_places',
      'daily_counts',
      'licenses',
    ]
    const left: unknown[] = []
    const prepare = writer.prepare.bind(writer)
    writer.prepare = (text) => {
      if (text.startsWith('delete from "apps"')) {
        for (const table of tables) {
          left.push(prepare(`select count(*) as n from ${table} where app_id = ?`).get(doomed._id)?.n)
        }
      }
      return prepare(text)
    }
    const rows = await mostRowsInATurn(on, async () => {
      expect((await vendor.call('DELETE', `/apps/${doomed._id}`)).status).toBe(200)
    })
    writer.prepare = prepare
    expect(left).toEqual(tables.map(() => 0))
    expect(rows).toBeLessThanOrEqual(4000)
  })

  /** How many rows the server's thread changes, cascades included. */
  async function changesDuring(work: () => Promise<Answer>): Promise<number> {
    if (on.database.dialect !== 'sqlite') throw new Error('an embedded database')
    const { database } = on.database.handles.writer
    const changes = () => Number(database.prepare('select total_changes() as n').get()?.n)
    const before = changes()
    expect((await work()).status).toBe(200)
    return changes() - before
  }

  test('deletes a reseller with thousands of licenses on another thread', async () => {
    const { reseller } = await makeSeller(3000)
    expect(await changesDuring(() => vendor.call('DELETE', `/resellers/${reseller._id}`))).toBeLessThan(1000)
  })

  test('deletes an app with thousands of resellers on another thread', async () => {
    const { app: doomed } = await makeSeller(0)
    await sql`insert into resellers (id, owner_id, app_id, email, email_normalized, password_hash, allowed_license_keys, created_at)
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 3000)
      select ${doomed._id} || i, owner_id, id, 'x', ${doomed._id} || i, 'x', 0, 1 from numbers, apps where id = ${doomed._id}`.execute(
      on.database.db,
    )
    expect(await changesDuring(() => vendor.call('DELETE', `/apps/${doomed._id}`))).toBeLessThan(1000)
  })

  async function makeSeller(licenses: number) {
    const made = await makeApp(vendor)
    const reseller = await makeReseller(on, vendor, made)
    await sql`insert into licenses (id, owner_id, app_id, reseller_id, key, key_normalized, expires_at, created_at)
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i <= ${licenses})
      select ${made._id} || i, owner_id, id, ${reseller._id}, 'SOLD' || i, 'SOLD' || i, 9e12, 1
      from numbers, apps where id = ${made._id} and i <= ${licenses}`.execute(on.database.db)
    return { app: made, reseller }
  }

  const importRows = (dryRun: boolean) =>
    vendor.call('POST', '/licenses/import', { app: app._id, csv: csvOf(dataset), dryRun })
})

test('right passwords from one address do not keep others from signing in', async () => {
  const signIn = ({ email, password }: Owner, from: string) =>
    on.call('POST', '/auth/login', { body: { email, password }, from })
  const crowd = Promise.all(Array.from({ length: 2 * queue }, () => signIn(owner, '10.0.0.1')))
  const others = await Promise.all(Array.from({ length: 5 }, (_, at) => signIn(other, `10.0.1.${at}`)))
  expect(outcomes(others)).toEqual(Array(5).fill('ok'))
  const answers = outcomes(await crowd)
  expect(new Set(answers)).toEqual(new Set(['ok', 'busy']))
  expect(answers.filter((outcome) => outcome === 'ok').length).toBeGreaterThanOrEqual(queue - others.length)
})
