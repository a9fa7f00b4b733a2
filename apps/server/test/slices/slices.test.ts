import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { system } from '../../src/core/actor.ts'
import type { Ctx } from '../../src/core/ctx.ts'
import { inSlices } from '../../src/core/slices.ts'
import { serverForAll } from '../fixtures.ts'
import { transactionsOn } from '../harness.ts'

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
    // As long as it takes, a slice stays small.
    await pause(5)
    fail?.(mark)
    return { found: deleted.length, changed: deleted.length * 2, mark: mark + size }
  }

test('each slice continues where the one before ended, and everything is stored at the end', async () => {
  expect(await inSlices(ctx(), system, deleteFrom())).toBe(rows * 2)
  expect(await left()).toBe(0)
})

test('ends with the error of a slice, whose rows stay, and keeps what the slices before did', async () => {
  let failedAt = 0
  const fail = (mark: number) => {
    if (mark < 100) return
    failedAt = mark
    throw new Error('refused')
  }
  await expect(inSlices(ctx(), system, deleteFrom(fail))).rejects.toThrow('refused')
  expect(await left()).toBe(rows - failedAt)
})

test.runIf(process.env.TEST_DATABASE === 'sqlite')(
  'slices stay short while other writes wait for them',
  async () => {
    const sizes: number[] = []
    const others: Promise<unknown>[] = []
    await inSlices(ctx(), system, async ({ tx }, size, mark = 0) => {
      sizes.push(size)
      await tx
        .deleteFrom('attempts')
        .where('window_ends', '<', mark + size)
        .execute()
      const values = { key: `other-${mark}`, count: 1, window_ends: rows }
      others.push(on.database.db.insertInto('attempts').values(values).execute())
      await pause(6)
      return { found: sizes.length < 10 ? size : 0, mark: mark + size }
    })
    await Promise.all(others)
    expect(sizes).toEqual(Array.from({ length: 10 }, () => 20))
  },
)

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
