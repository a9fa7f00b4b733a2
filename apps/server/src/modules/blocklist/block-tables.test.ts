import { expect, test } from 'vitest'
import type { Database } from '../../db/index.ts'
import { BlockTables } from './block-tables.ts'

/** Counts reads of the lists, which are empty; every app lets some networks through its VPN check. */
function emptyLists(allowed: string[]) {
  let reads = 0
  const chain = (answer: { execute?: () => unknown; executeTakeFirst?: () => unknown }) => {
    const query = { select: () => query, where: () => query, ...answer }
    return { selectFrom: () => query }
  }
  const database = {
    lists: chain({
      execute: async () => {
        reads += 1
        return []
      },
    }),
    db: chain({ executeTakeFirst: async () => ({ vpn_allowed: JSON.stringify(allowed) }) }),
  } as unknown as Pick<Database, 'db' | 'lists'>
  return { database, reads: () => reads }
}

test.each([
  { lists: 'empty lists', allowed: [], kept: 10 },
  { lists: 'networks of the VPN check', allowed: ['10.0.0.0/8', '192.0.2.0/24'], kept: 3 },
])('keeps only so many apps with $lists in memory', async ({ allowed, kept }) => {
  const { database, reads } = emptyLists(allowed)
  const tables = new BlockTables(database, 10)
  const get = (number: number) => tables.get({ id: `app_${number}`, blockVersion: 1 })
  for (let number = 0; number < 20; number += 1) await get(number)
  expect(reads()).toBe(20)
  for (let number = 20 - kept; number < 20; number += 1) await get(number)
  expect(reads()).toBe(20)
  await get(20 - kept - 1)
  expect(reads()).toBe(21)
})
