import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { License } from '@keyward/contract'
import { afterEach, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { copyDatabase } from '../../src/db/sqlite/backup/copy.ts'
import { databaseFile } from '../../src/db/sqlite/data-dir.ts'
import type { KeyedRequest } from '../../src/service/idempotency.ts'
import { makeApp, makePremium, makeType, type Owner, refusal, signUp } from '../actors.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'
import { heldImportsOn } from '../held-import.ts'
import { recount } from '../recount.ts'

const on = serverForAll({}, { gateSizes: { jobs: { running: 6, waiting: 0 } }, importsEveryMs: 20 })
const owner = premiumOwnerForAll(on)
const importHeldBy = heldImportsOn(on)

afterEach(async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
  expect(await running()).toBe(0)
})

const running = async ({ database } = on): Promise<number> =>
  (await database.db.selectFrom('data_imports').select('id').where('claimed_until', 'is not', null).execute())
    .length

async function customApp(by: Owner = owner) {
  const app = await makeApp(by)
  await by.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  return app
}

const rows = 300
const keyOf = (at: number) => `IMPORT-${String(at).padStart(4, '0')}-AAAA`
const keyed = ['key,expiresAt', ...Array.from({ length: rows }, (_, at) => `${keyOf(at)},2027-01-31`)].join(
  '\n',
)
const unkeyed = `expiresAt\n${'2027-01-31\n'.repeat(rows)}`
const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })
/** The first transaction of an import stores it. */
const inBetween = (act: () => Promise<unknown>) => async (transaction: number) => {
  if (transaction === 2) await act()
}
const never = async () => {}
let requests = 0
const newRequest = (): KeyedRequest => ({ key: `import-${++requests}`, request: 'the same input' })

const create = (app: { _id: string }, by: Owner = owner, key?: string) =>
  by.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(9), key })
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

test('skips keys that are taken after the import has decided, and its repeat reports the same', async () => {
  const [app, request] = [await customApp(), newRequest()]
  const similar = keyOf(200).replace('0200', 'O2OO')
  const take = async () => {
    for (const key of [keyOf(3), similar]) expect((await create(app, owner, key)).status).toBe(201)
  }
  const result = await importHeldBy(owner, app, keyed, inBetween(take), request)
  expect(result).toMatchObject({ created: rows - 2, skipped: 2, failed: 0 })
  expect(result.rows.filter((row) => row.outcome === 'skipped')).toMatchObject([
    { key: keyOf(3), message: 'The key exists already' },
    { key: keyOf(200), message: 'A key that reads the same exists already' },
  ])
  expect(await recorded(app)).toMatchObject([{ count: rows - 2 }])
  expect(await importHeldBy(owner, app, keyed, never, request)).toEqual(result)
  expect(await total(app)).toBe(rows)
  expect((await owner.call('GET', '/imports')).json.data.imports).toEqual([])
})

test('several imports of the same many keys at once create each key once, and their records add up', async () => {
  const app = await customApp()
  const body = { app: app._id, csv: keyed, dryRun: false }
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => owner.call('POST', '/licenses/import', body)),
  )
  const sum = (counts: number[]) => counts.reduce((all, one) => all + one, 0)
  expect(sum(answers.map(({ json }) => json.data.created))).toBe(rows)
  expect(sum(answers.map(({ json }) => json.data.skipped))).toBe(3 * rows)
  expect(sum((await recorded(app)).map((record) => record.count))).toBe(rows)
  expect(await total(app)).toBe(rows)
})

test('an import whose app is deleted meanwhile is not found, leaves nothing, and its key is free again', async () => {
  const [app, request] = [await makeApp(owner), newRequest()]
  const deletion = async () => expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
  const notFound = { code: 'not_found' }
  await expect(importHeldBy(owner, app, unkeyed, inBetween(deletion), request)).rejects.toMatchObject(
    notFound,
  )
  expect(await recorded(app)).toEqual([])
  await expect(importHeldBy(owner, app, unkeyed, never, request)).rejects.toMatchObject(notFound)
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

test('licenses of an import count for the plan limit before they exist', async () => {
  const vendor = await signUp(on)
  await makePremium(on, vendor)
  const app = await makeApp(vendor)
  const answers: string[] = []
  const fill = async () => {
    await on.database.db
      .updateTable('owners')
      .set({ premium_until: null })
      .where('id', '=', vendor.id)
      .execute()
    answers.push(...(await Promise.all(Array.from({ length: 32 }, () => create(app, vendor)))).map(refusal))
  }
  expect(await importHeldBy(vendor, app, unkeyed, inBetween(fill))).toMatchObject({ created: rows })
  expect(answers).toEqual(Array.from({ length: 32 }, () => 'plan_limit_reached'))
  expect(await total(app, vendor)).toBe(rows)
})

test('imports and 32 concurrent creators fill an app to its limit exactly, also after rejected imports', async () => {
  const vendor = await signUp(on)
  const app = await customApp(vendor)
  const importing = (csv: string) =>
    vendor.call('POST', '/licenses/import', { app: app._id, csv, dryRun: false })
  expect(refusal(await importing(unkeyed))).toBe('plan_limit_reached')
  // Many lines, but few licenses.
  const repeated = (name: string) =>
    `key,expiresAt\n${Array.from({ length: 60 }, (_, at) => `${name}-KEY-${at % 6},2027-01-31`).join('\n')}`
  const answers = await Promise.all([
    ...['FIRST', 'SECOND', 'THIRD'].map((name) => importing(repeated(name))),
    ...Array.from({ length: 32 }, () => create(app, vendor)),
  ])
  for (const { status } of answers) expect([200, 201, 403]).toContain(status)
  while ((await create(app, vendor)).status !== 403);
  expect(await total(app, vendor)).toBe(30)
})

test('an import that a full disk interrupts is completed later, once, and recorded for its owner', async () => {
  const app = await customApp()
  const failing = importHeldBy(owner, app, keyed, async (transaction) => {
    if (transaction === 3) throw full
  })
  await expect(failing).rejects.toMatchObject({
    code: 'storage_full',
    message: expect.stringContaining('Do not import these rows again'),
  })
  const before = await total(app)
  expect([before > 0, before < rows, await recorded(app)]).toEqual([true, true, []])
  on.clock.advance(minute)
  await expect.poll(() => running()).toBe(0)
  const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}&sort=oldest&limit=200`)).json.data
  expect(licenses.map((license: License) => license.key)).toEqual(
    Array.from({ length: 200 }, (_, at) => keyOf(at)),
  )
  expect(await total(app)).toBe(rows)
  expect(await recorded(app)).toEqual([
    { count: rows, actor_id: owner.accountId, session_id: 'ses_1', address: '192.0.2.1' },
  ])
})

test('a repeat waits for the end of an interrupted import and gets its answer', async () => {
  const [app, request] = [await customApp(), newRequest()]
  const interrupt = async (transaction: number) => {
    if (transaction === 2) await create(app, owner, keyOf(299))
    if (transaction >= 3) throw full
  }
  await expect(importHeldBy(owner, app, keyed, interrupt, request)).rejects.toMatchObject({
    code: 'storage_full',
  })
  const repeating = importHeldBy(owner, app, keyed, never, request)
  on.clock.advance(minute)
  const repeated = await repeating
  expect(repeated).toMatchObject({ created: rows - 1, skipped: 1 })
  expect(await importHeldBy(owner, app, keyed, never, request)).toEqual(repeated)
  expect(await total(app)).toBe(rows)
})

test.runIf(process.env.TEST_DATABASE === 'sqlite')(
  'a backup during an import is completed by the server that starts with it',
  async () => {
    const app = await makeApp(owner)
    const dataDir = mkdtempSync(join(tmpdir(), 'keyward-copy-'))
    await importHeldBy(owner, app, unkeyed, async (transaction) => {
      if (transaction !== 3 || on.database.dialect !== 'sqlite') return
      // The reader shares one snapshot until the next turn.
      await new Promise(setImmediate)
      copyDatabase(on.database.handles.reader.database, join(dataDir, databaseFile))
    })
    const restored = await startServer({ DATA_DIR: dataDir })
    try {
      await expect.poll(() => running(restored)).toBe(0)
      const { licenses } = (await restored.call('GET', `/licenses?app=${app._id}`, { token: owner.token }))
        .json.data
      expect(licenses.length).toBeGreaterThan(0)
      const { kept, counted } = await recount(restored)
      expect(kept).toEqual(counted)
    } finally {
      await restored.close()
    }
  },
)

test('an import that fails before it is stored leaves nothing', async () => {
  const [app, request] = [await makeApp(owner), newRequest()]
  const broken = async () => {
    throw new Error('broken')
  }
  await expect(importHeldBy(owner, app, unkeyed, broken, request)).rejects.toThrow('broken')
  expect([await total(app), await recorded(app)]).toEqual([0, []])
  expect(await importHeldBy(owner, app, unkeyed, never, request)).toMatchObject({ created: rows })
})
