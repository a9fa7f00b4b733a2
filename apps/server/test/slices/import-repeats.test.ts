import type { ImportedRow, License } from '@keyward/contract'
import { afterEach, expect, test, vi } from 'vitest'
import { completeImports } from '../../src/modules/bulk/import.slices.ts'
import type { KeyedRequest } from '../../src/service/idempotency.ts'
import { makeApp, type Owner, refusal } from '../actors.ts'
import { premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { transactionsOn } from '../harness.ts'
import { heldImportsOn } from '../held-import.ts'
import { recount } from '../recount.ts'

const isSqlite = process.env.TEST_DATABASE === 'sqlite'
const on = serverForAll({}, { importsEveryMs: 3_600_000 })
const owner = premiumOwnerForAll(on)
const importHeldBy = heldImportsOn(on)

afterEach(async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

let keys = 0
const newRequest = (): KeyedRequest => ({ key: `import-${++keys}`, request: 'the same input' })
const never = async () => {}

const rows = 300
const unkeyed = `expiresAt\n${'2027-01-31\n'.repeat(rows)}`
const keyOf = (at: number) => `REPEAT-${String(at).padStart(4, '0')}-AAAA`
const keyed = ['key,expiresAt', ...Array.from({ length: rows }, (_, at) => `${keyOf(at)},2027-01-31`)].join(
  '\n',
)
const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })

const total = async (app: { _id: string }): Promise<number> =>
  (await owner.call('GET', `/licenses?app=${app._id}&limit=1`)).json.data.stats.total
const stored = async () => (await on.database.db.selectFrom('imports').select('id').execute()).length

async function customApp(by: Owner = owner) {
  const app = await makeApp(by)
  await by.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  return app
}

const takeKeys = async (app: { _id: string }, ...taken: string[]) => {
  for (const key of taken) {
    const body = { app: app._id, expiresAt: on.clock.inDays(9), key }
    expect((await owner.call('POST', '/licenses', body)).status).toBe(201)
  }
}

test('32 concurrent requests with one key import a file once', async () => {
  const app = await makeApp(owner)
  const body = { app: app._id, csv: unkeyed, dryRun: false }
  const headers = { 'idempotency-key': 'import-at-once' }
  const send = () => on.call('POST', '/licenses/import', { token: owner.token, body, headers })
  const answers = await Promise.all(Array.from({ length: 32 }, send))
  const done = answers.filter(({ status }) => status === 200)
  expect(done.length).toBeGreaterThan(0)
  expect(new Set(done.map(({ json }) => JSON.stringify(json))).size).toBe(1)
  for (const answer of answers) {
    if (answer.status !== 200) expect(['job_running', 'request_running']).toContain(refusal(answer))
  }
  expect((await send()).json).toEqual(done[0]?.json)
  expect(await total(app)).toBe(rows)
})

test.each([10, 300])(
  'the answer of %i rows is packed before anything waits for the import',
  async (count) => {
    const app = await makeApp(owner)
    const body = { app: app._id, csv: `expiresAt\n${'2027-01-31\n'.repeat(count)}`, dryRun: false }
    const headers = { 'idempotency-key': `import-packed-${count}` }
    const isLocked = Promise.withResolvers<void>()
    const isFree = Promise.withResolvers<void>()
    const holding = on.database.db.transaction().execute(async (tx) => {
      await tx.updateTable('apps').set({ name: 'Imported' }).where('id', '=', app._id).execute()
      isLocked.resolve()
      await isFree.promise
    })
    await isLocked.promise
    const sealed = vi.spyOn(on.seal, 'seal')
    const send = on.call('POST', '/licenses/import', { token: owner.token, body, headers })
    try {
      const packed = () => sealed.mock.calls.filter(([, context]) => context.startsWith('idempotency_keys'))
      await expect.poll(packed, { timeout: 5000 }).toHaveLength(1)
    } finally {
      isFree.resolve()
      await holding
      sealed.mockRestore()
    }
    expect((await send).json.data).toMatchObject({ created: count })
  },
)

test('a dry run leaves its key free', async () => {
  const app = await makeApp(owner)
  const headers = { 'idempotency-key': 'import-checked' }
  const send = (dryRun: boolean) =>
    on.call('POST', '/licenses/import', {
      token: owner.token,
      body: { app: app._id, csv: unkeyed, dryRun },
      headers,
    })
  expect((await send(true)).json.data).toMatchObject({ dryRun: true, created: rows })
  expect((await send(false)).json.data).toMatchObject({ dryRun: false, created: rows })
  expect((await send(true)).json.data.dryRun).toBe(true)
  expect(await total(app)).toBe(rows)
})

test('a repeat lists the keys that the first import generated', async () => {
  const app = await makeApp(owner)
  const request = newRequest()
  const first = await importHeldBy(owner, app, unkeyed, never, request)
  expect(await importHeldBy(owner, app, unkeyed, never, request)).toEqual(first)
  const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}&sort=oldest&limit=200`)).json.data
  expect(licenses.map((license: License) => license.key)).toEqual(
    first.rows.slice(0, 200).map((row) => row.key),
  )
})

test('a repeat reports the same skipped keys as the first import', async () => {
  const app = await customApp()
  const request = newRequest()
  const similar = keyOf(200).replace('0200', 'O2OO')
  const take = async (transaction: number) => {
    if (transaction === (isSqlite ? 2 : 1)) await takeKeys(app, keyOf(3), similar)
  }
  const first = await importHeldBy(owner, app, keyed, take, request)
  expect(first).toMatchObject({ created: rows - 2, skipped: 2 })
  expect(await importHeldBy(owner, app, keyed, never, request)).toEqual(first)
  expect(await total(app)).toBe(rows)
})

test.runIf(isSqlite)('a repeat completes an interrupted import and gets its answer', async () => {
  const app = await customApp()
  const request = newRequest()
  const failing = importHeldBy(
    owner,
    app,
    keyed,
    async (transaction) => {
      if (transaction === 2) await takeKeys(app, keyOf(3), keyOf(299))
      if (transaction >= 3) throw full
    },
    request,
  )
  await expect(failing).rejects.toMatchObject({
    code: 'storage_full',
    message: expect.stringContaining('Do not import these rows again'),
  })
  expect(await total(app)).toBeLessThan(rows)
  const failsStill = async () => {
    throw full
  }
  await expect(importHeldBy(owner, app, keyed, failsStill, request)).rejects.toMatchObject({
    code: 'storage_full',
  })
  const repeated = await importHeldBy(owner, app, keyed, never, request)
  const skipped = repeated.rows.filter((row: ImportedRow) => row.outcome === 'skipped')
  expect(skipped.map((row) => [row.key, row.message])).toEqual(
    [keyOf(3), keyOf(299)].map((key) => [key, 'The key exists already']),
  )
  expect([repeated.created, await total(app), await stored()]).toEqual([rows - 2, rows, 0])
  expect(await importHeldBy(owner, app, keyed, never, request)).toEqual(repeated)
})

test.runIf(isSqlite)('a repeat waits for an import that housekeeping is completing', async () => {
  const app = await makeApp(owner)
  const request = newRequest()
  const failing = importHeldBy(
    owner,
    app,
    unkeyed,
    async (transaction) => {
      if (transaction >= 3) throw full
    },
    request,
  )
  await expect(failing).rejects.toMatchObject({ code: 'storage_full' })
  const [, repeated] = await Promise.all([tidyUp(on), importHeldBy(owner, app, unkeyed, never, request)])
  expect([repeated.created, await total(app), await stored()]).toEqual([rows, rows, 0])
})

test.runIf(isSqlite)(
  'an import that is completed while housekeeping completes another keeps its answer',
  async () => {
    const requests = new Map<string, KeyedRequest>()
    for (let made = 0; made < 2; made += 1) {
      const [app, request] = [await makeApp(owner), newRequest()]
      const fillDisk = async (transaction: number) => {
        if (transaction >= 3) throw full
      }
      const failing = importHeldBy(owner, app, unkeyed, fillDisk, request)
      await expect(failing).rejects.toMatchObject({ code: 'storage_full' })
      requests.set(app._id, request)
    }
    const imports = await on.database.db.selectFrom('imports').select('app_id').orderBy('id').execute()
    const app = { _id: imports[1]?.app_id ?? '' }
    const repeat = () => importHeldBy(owner, app, unkeyed, never, requests.get(app._id))

    const transactWith = transactionsOn(on.database, on.clock)
    let first: unknown
    const { db } = on.database
    await completeImports({
      db,
      seal: on.seal,
      tx: async (...args) => {
        first ??= await repeat()
        return transactWith(...args)
      },
    })
    expect(await stored()).toBe(0)
    expect(await repeat()).toEqual(first)
    expect(await total(app)).toBe(rows)
  },
)

test.runIf(isSqlite)('the key of an import is free again if the app was deleted meanwhile', async () => {
  const app = await makeApp(owner)
  const request = newRequest()
  const deletion = async (transaction: number) => {
    if (transaction === 2) expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
  }
  const notFound = { code: 'not_found' }
  await expect(importHeldBy(owner, app, unkeyed, deletion, request)).rejects.toMatchObject(notFound)
  await expect(importHeldBy(owner, app, unkeyed, never, request)).rejects.toMatchObject(notFound)
})

test('an import that is not stored leaves its key free', async () => {
  const app = await makeApp(owner)
  const request = newRequest()
  const broken = async () => {
    throw new Error('broken')
  }
  await expect(importHeldBy(owner, app, unkeyed, broken, request)).rejects.toThrow('broken')
  expect(await total(app)).toBe(0)
  expect(await importHeldBy(owner, app, unkeyed, never, request)).toMatchObject({ created: rows })
})
