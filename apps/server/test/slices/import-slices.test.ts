import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { License } from '@keyward/contract'
import { afterEach, expect, test } from 'vitest'
import { copyDatabase } from '../../src/db/sqlite/backup/copy.ts'
import { databaseFile } from '../../src/db/sqlite/data-dir.ts'
import { makeApp, makeLicenses, makePremium, makeType, type Owner, refusal, signUp } from '../actors.ts'
import { premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { startServer } from '../harness.ts'
import { heldImportsOn } from '../held-import.ts'
import { recount } from '../recount.ts'
import { statementsOf } from '../statements.ts'

const isSqlite = process.env.TEST_DATABASE === 'sqlite'
const on = serverForAll({}, { gateSizes: { jobs: { running: 6, waiting: 0 } }, importsEveryMs: 3_600_000 })
const owner = premiumOwnerForAll(on)
const importHeldBy = heldImportsOn(on)

afterEach(async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
  expect(await stored()).toEqual([0, 0])
})

const count = async (table: 'imports' | 'import_chunks' | 'licenses', { database } = on) => {
  const { n } = await database.db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}
const stored = async () => [await count('imports'), await count('import_chunks')]

async function customApp(by: Owner = owner) {
  const app = await makeApp(by)
  await by.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  return app
}

/** Before the first slice: on SQLite the import is stored by then, on PostgreSQL it is decided. */
const inBetween = (act: () => Promise<unknown>) => async (transaction: number) => {
  if (transaction === (isSqlite ? 2 : 1)) await act()
}

const rows = 300
const keyOf = (at: number) => `IMPORT-${String(at).padStart(4, '0')}-AAAA`
const keyed = ['key,expiresAt', ...Array.from({ length: rows }, (_, at) => `${keyOf(at)},2027-01-31`)].join(
  '\n',
)
const unkeyed = `expiresAt\n${'2027-01-31\n'.repeat(rows)}`

const total = async (app: { _id: string }, by = owner): Promise<number> =>
  (await by.call('GET', `/licenses?app=${app._id}&limit=1`)).json.data.stats.total

async function recorded(app: { _id: string }) {
  const found = await on.database.db
    .selectFrom('audit')
    .select(['detail', 'actor_id', 'session_id', 'address'])
    .where('action', '=', 'licenses.imported')
    .where('target_id', '=', app._id)
    .execute()
  return found.map(({ detail, ...actor }) => ({ ...actor, ...JSON.parse(detail ?? '') }))
}

test('skips keys that are created after the import has decided, also those that read the same', async () => {
  const app = await customApp()
  const create = (key: string) =>
    owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(9), key })
  const similar = keyOf(200).replace('0200', 'O2OO')
  const result = await importHeldBy(
    owner,
    app,
    keyed,
    inBetween(async () => {
      for (const key of [keyOf(3), similar]) expect((await create(key)).status).toBe(201)
    }),
  )
  expect(result).toMatchObject({ created: rows - 2, skipped: 2, failed: 0 })
  const skipped = result.rows.filter((row) => row.outcome === 'skipped')
  expect(skipped).toMatchObject([
    { key: keyOf(3), message: 'The key exists already' },
    { key: keyOf(200), message: 'A key that reads the same exists already' },
  ])
  expect(await recorded(app)).toMatchObject([{ count: rows - 2 }])
  expect(await total(app)).toBe(rows)
})

test('several imports of the same many keys at once create each key once, and their records add up', async () => {
  const app = await customApp()
  const body = { app: app._id, csv: keyed, dryRun: false }
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => owner.call('POST', '/licenses/import', body)),
  )
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200])
  const sum = (counts: number[]) => counts.reduce((all, one) => all + one, 0)
  expect(sum(answers.map(({ json }) => json.data.created))).toBe(rows)
  expect(sum(answers.map(({ json }) => json.data.skipped))).toBe(3 * rows)
  expect(sum((await recorded(app)).map((record) => record.count))).toBe(rows)
  expect(await total(app)).toBe(rows)
})

test('an import whose app is deleted meanwhile is not found, and leaves nothing', async () => {
  const app = await makeApp(owner)
  const deletion = async () => expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
  await expect(importHeldBy(owner, app, unkeyed, inBetween(deletion))).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(await recorded(app)).toEqual([])
})

test('an import with a type that is deleted meanwhile keeps what the type sold', async () => {
  const app = await makeApp(owner)
  const type = await makeType(owner, app, { name: 'Team', devices: 5 })
  const csv = `type\n${'Team\n'.repeat(rows)}`
  const deletion = () => owner.call('DELETE', `/license-types/${type._id}`)
  expect(await importHeldBy(owner, app, csv, inBetween(deletion))).toMatchObject({ created: rows })
  const { licenses, stats } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
  expect(stats.total).toBe(rows)
  expect(new Set(licenses.map(({ devices, type: typeId }: License) => `${devices} ${typeId}`))).toEqual(
    new Set(['5 null']),
  )
})

test('a deletion of all licenses during an import deletes those that exist and breaks nothing', async () => {
  const app = await makeApp(owner)
  await makeLicenses(on, owner, app, 5)
  let deleted = 0
  const result = await importHeldBy(owner, app, unkeyed, async (transaction) => {
    if (transaction !== (isSqlite ? 3 : 1)) return
    const { json } = await owner.call('DELETE', `/licenses?app=${app._id}`)
    deleted = json.data.deletedCount
  })
  expect(result.created).toBe(rows)
  expect(deleted).toBeGreaterThanOrEqual(5)
  expect(await total(app)).toBe(rows + 5 - deleted)
})

test('licenses of an import count for the plan limit before they exist', async () => {
  const vendor = await signUp(on)
  await makePremium(on, vendor)
  const app = await makeApp(vendor)
  const answers: string[] = []
  const result = await importHeldBy(
    vendor,
    app,
    unkeyed,
    inBetween(async () => {
      if (!isSqlite) return
      await setPremium(vendor, null)
      const body = { app: app._id, expiresAt: on.clock.inDays(9) }
      const creating = Array.from({ length: 32 }, () => vendor.call('POST', '/licenses', body))
      answers.push(...(await Promise.all(creating)).map(refusal))
    }),
  )
  expect(result.created).toBe(rows)
  expect(answers).toEqual(isSqlite ? Array.from({ length: 32 }, () => 'plan_limit_reached') : [])
  expect(await total(app, vendor)).toBe(rows)
})

const setPremium = (vendor: Owner, until: number | null) =>
  on.database.db.updateTable('owners').set({ premium_until: until }).where('id', '=', vendor.id).execute()

test('imports and 32 concurrent creators fill an app to its limit exactly, also after rejected imports', async () => {
  const vendor = await signUp(on)
  const app = await customApp(vendor)
  const importing = (csv: string) =>
    vendor.call('POST', '/licenses/import', { app: app._id, csv, dryRun: false })
  expect(refusal(await importing(unkeyed))).toBe('plan_limit_reached')
  // Many lines, but few licenses.
  const repeated = (name: string) =>
    `key,expiresAt\n${Array.from({ length: 60 }, (_, at) => `${name}-KEY-${at % 6},2027-01-31`).join('\n')}`
  const body = { app: app._id, expiresAt: on.clock.inDays(9) }
  const answers = await Promise.all([
    ...['FIRST', 'SECOND', 'THIRD'].map((name) => importing(repeated(name))),
    ...Array.from({ length: 32 }, () => vendor.call('POST', '/licenses', body)),
  ])
  for (const { status } of answers) expect([200, 201, 403]).toContain(status)
  for (;;) {
    const { status } = await vendor.call('POST', '/licenses', body)
    if (status === 403) break
  }
  expect(await total(app, vendor)).toBe(30)
})

test.runIf(isSqlite)(
  'an interrupted import is completed later, once, and recorded for its owner',
  async () => {
    const app = await customApp()
    const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })
    const failing = importHeldBy(owner, app, keyed, async (transaction) => {
      if (transaction === 3) throw full
    })
    await expect(failing).rejects.toMatchObject({
      code: 'storage_full',
      message: expect.stringContaining('Do not import these rows again'),
    })
    const before = await total(app)
    expect([before > 0, before < rows, await recorded(app)]).toEqual([true, true, []])
    await Promise.all([tidyUp(on), tidyUp(on)])
    await tidyUp(on)
    const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}&sort=oldest&limit=200`)).json.data
    expect(licenses.map((license: License) => license.key)).toEqual(
      Array.from({ length: 200 }, (_, at) => keyOf(at)),
    )
    expect(await total(app)).toBe(rows)
    expect(await recorded(app)).toEqual([
      { count: rows, actor_id: owner.accountId, session_id: 'ses_1', address: '192.0.2.1' },
    ])
  },
)

test.runIf(isSqlite)('a backup during an import is completed by the server that starts with it', async () => {
  const app = await makeApp(owner)
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-copy-'))
  const before = await count('licenses')
  await importHeldBy(owner, app, unkeyed, async (transaction) => {
    if (transaction !== 3 || on.database.dialect !== 'sqlite') return
    copyDatabase(on.database.handles.reader.database, join(dataDir, databaseFile))
  })
  const restored = await startServer({ DATA_DIR: dataDir })
  try {
    await expect.poll(() => count('imports', restored)).toBe(0)
    expect([await count('licenses', restored), await count('import_chunks', restored)]).toEqual([
      before + rows,
      0,
    ])
    const { kept, counted } = await recount(restored)
    expect(kept).toEqual(counted)
  } finally {
    await restored.close()
  }
})

test('other accounts write while a large import adds its licenses', async () => {
  const app = await makeApp(owner)
  const other = await signUp(on)
  await makePremium(on, other)
  const theirs = await makeApp(other)
  let isAnswered = false
  const csv = `expiresAt\n${'2027-01-31\n'.repeat(3000)}`
  const importing = owner
    .call('POST', '/licenses/import', { app: app._id, csv, dryRun: false })
    .finally(() => {
      isAnswered = true
    })
  let writes = 0
  for (;;) {
    const begun = await total(app)
    await makeLicenses(on, other, theirs)
    if (isAnswered) break
    if (begun > 0) writes += 1
  }
  expect((await importing).json.data.created).toBe(3000)
  // On PostgreSQL they never wait, and see the licenses once they are committed.
  if (isSqlite) expect(writes).toBeGreaterThan(1)
})

test.runIf(isSqlite)(
  'reports an import that it cannot complete, and pauses before the next attempt',
  async () => {
    const lines: string[] = []
    const log = { write: (line: string) => void lines.push(line) }
    const own = await startServer({}, { importsEveryMs: 10, logLevel: 'error', log })
    try {
      const vendor = await signUp(own)
      const app = await makeApp(vendor)
      const { db } = own.database
      const ofOwner = { actor_kind: 'owner', actor_id: vendor.accountId }
      const by = {
        owner_id: vendor.id,
        app_id: app._id,
        ...ofOwner,
        session_id: 'ses_1',
        address: '192.0.2.1',
      }
      const broken = { id: 'imp_broken', ...by, column_names: 'broken', count: 0, created_at: 1 }
      await db.insertInto('imports').values(broken).execute()
      await expect.poll(() => lines.length).toBe(1)
      await db.updateTable('imports').set({ column_names: '[]' }).execute()
      await pause(300)
      expect(await db.selectFrom('imports').select('id').execute()).toEqual([{ id: 'imp_broken' }])
      expect(lines).toEqual([expect.stringContaining('background work failed')])
    } finally {
      await own.close()
    }
  },
)

test.runIf(!isSqlite)('a server on PostgreSQL never looks for interrupted imports', async () => {
  const sent = await statementsOf(on.database, () => tidyUp(on))
  expect(sent.length).toBeGreaterThan(0)
  expect(sent.filter(({ text }) => text.includes('"imports"'))).toEqual([])
})

test('an import that fails before it is stored leaves nothing', async () => {
  const app = await makeApp(owner)
  const failing = importHeldBy(owner, app, unkeyed, async () => {
    throw new Error('broken')
  })
  await expect(failing).rejects.toThrow('broken')
  expect([await total(app), await recorded(app)]).toEqual([0, []])
})

test.runIf(isSqlite)('housekeeping leaves an import alone that its call is completing', async () => {
  const app = await makeApp(owner)
  const seen: number[] = []
  const result = await importHeldBy(owner, app, unkeyed, async (transaction) => {
    if (transaction !== 3) return
    await tidyUp(on)
    seen.push(await total(app))
  })
  expect(result.created).toBe(rows)
  expect(seen).toEqual([20])
  expect(await recorded(app)).toMatchObject([{ count: rows }])
})
