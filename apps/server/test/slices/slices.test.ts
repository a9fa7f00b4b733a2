// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { system } from '../../src/core/actor.ts'
import { inSlices } from '../../src/db/index.ts'
import type { Ctx } from '../../src/service/ctx.ts'
import { serverForAll } from '../fixtures.ts'
import { transactionsOn } from '../harness.ts'

const isSqlite = process.env.TEST_DATABASE === 'sqlite'
const on = serverForAll()
const ctx = (): Pick<Ctx, 'db' | 'tx'> => ({
  db: on.database.db,
  tx: transactionsOn(on.database, on.clock),
})

const rows = 500
const left = async () => {
  const { rows: found } = await sql<{ n: number }>`select count(*) as n from attempts`.execute(on.database.db)
  return Number(found[0]?.n)
}
beforeEach(async () => {
  const values = Array.from({ length: rows }, (_, at) => ({ key: `key-${at}`, count: 1, window_ends: at }))
  await on.database.db.insertInto('attempts').values(values).execute()
})
afterEach(() => on.database.db.deleteFrom('attempts').execute())

/** Deletes the next rows by `window_ends`, which the mark counts. */
const deleteFrom =
  (fail?: (mark: number) => void): Parameters<typeof inSlices>[2] =>
  async ({ tx }, size, mark = 0) => {
    const deleted = await tx
      .deleteFrom('attempts')
      .where('window_ends', '>=', mark)
      .where('window_ends', '<', mark + size)
      .returning('key')
      .execute()
    // A slice that takes this long keeps the next ones small.
    await pause(5)
    fail?.(mark)
    return { found: deleted.length, changed: deleted.length * 2, mark: mark + size }
  }

test('each slice continues where the one before ended, and everything is stored at the end', async () => {
  expect(await inSlices(ctx(), system, deleteFrom())).toBe(rows * 2)
  expect(await left()).toBe(0)
})

test('ends with the error of a slice, whose rows stay, and keeps what the slices before did', async () => {
  // On PostgreSQL they have 20 rows, at most 160, and the others; on SQLite all have about 20.
  const refused = isSqlite ? 10 : 3
  let parts = 0
  let kept = 0
  const fail = () => {
    parts += 1
    if (parts === refused) throw new Error('refused')
  }
  const running = inSlices(ctx(), system, deleteFrom(fail), (_, changed) => {
    kept += changed / 2
  })
  await expect(running).rejects.toThrow('refused')
  expect(kept).toBeGreaterThanOrEqual(isSqlite ? 100 : 40)
  expect(await left()).toBe(rows - kept)
})

/** Changes rows in ten parts; returns how many parts each of its transactions had, and what they recorded. */
async function runTenParts(afterEach: (mark: number) => void = () => {}) {
  const parts = new Map<unknown, number>()
  const recorded: number[] = []
  let last = 0
  const changed = await inSlices(
    ctx(),
    system,
    async (write, size, mark = 0) => {
      parts.set(write, (parts.get(write) ?? 0) + 1)
      const values = { key: `part-${mark}`, count: 1, window_ends: rows }
      await write.tx.insertInto('attempts').values(values).execute()
      afterEach(mark)
      // A part that takes this long keeps the next ones small.
      await pause(6)
      last = mark + 1
      return { found: last < 10 ? size : 0, changed: 1, mark: last }
    },
    (_, count) => recorded.push(count),
  )
  expect(changed).toBe(10)
  return { parts: [...parts.values()], recorded }
}

test('without other writes, three parts of long work share a transaction and a record on SQLite', async () => {
  const shared = isSqlite ? [1, 3, 3, 3] : Array.from({ length: 10 }, () => 1)
  expect(await runTenParts()).toEqual({ parts: shared, recorded: shared })
})

test.runIf(isSqlite)('long work ends its transaction as soon as another write waits for it', async () => {
  const others: Promise<unknown>[] = []
  const { parts } = await runTenParts((mark) => {
    // During the second part of the first shared transaction.
    if (mark !== 2) return
    const values = { key: 'other', count: 1, window_ends: rows }
    others.push(on.database.db.insertInto('attempts').values(values).execute())
  })
  await Promise.all(others)
  expect(parts.slice(0, 4)).toEqual([1, 2, 1, 1])
})

test.runIf(isSqlite)('slices stay short for a second after another write waited for one', async () => {
  const others: Promise<unknown>[] = []
  const { parts } = await runTenParts((mark) => {
    const values = { key: `other-${mark}`, count: 1, window_ends: rows }
    others.push(on.database.db.insertInto('attempts').values(values).execute())
  })
  await Promise.all(others)
  expect(parts).toEqual(Array.from({ length: 10 }, () => 1))
})

test('nothing is recorded for long work that changed nothing', async () => {
  const recorded: number[] = []
  await inSlices(
    ctx(),
    system,
    async () => ({ found: 0 }),
    (_, count) => recorded.push(count),
  )
  expect(recorded).toEqual([])
})

test('counts a slice that was tried again once', async () => {
  let attempts = 0
  const tx: Ctx['tx'] = (actor, work, options) =>
    ctx().tx(
      actor,
      async (write) => {
        const result = await work(write)
        attempts += 1
        // Both databases' drivers try this again; a long transaction of SQLite never fails with it.
        if (attempts === 1) throw Object.assign(new Error('again'), { code: '40001' })
        return result
      },
      options,
    )
  expect(await inSlices({ ...ctx(), tx }, system, deleteFrom())).toBe(rows * 2)
  expect(await left()).toBe(0)
})
