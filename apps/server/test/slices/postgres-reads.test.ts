import { expect, test } from 'vitest'
import { PostgresPool } from '../../src/db/postgres/pool.ts'
import { isDirect } from '../../src/db/postgres/probe.ts'
import { SharedConnections } from '../../src/db/postgres/shared-connections.ts'
import { makePostgresDatabase } from '../harness.ts'

test('one shared connection serves all reads while PostgreSQL accepts no other', async () => {
  let steps = 0
  const shared = new SharedConnections({
    url: await makePostgresDatabase(),
    connectMs: 5000,
    async watch(connecting) {
      await connecting
      steps += 1
      if (steps > 2) throw new Error('too many connections')
    },
    isDirect,
  })
  try {
    const first = await shared.next()
    expect(first).toBeDefined()
    for (let read = 0; read < 4; read += 1) expect(await shared.next()).toBe(first)
    expect(steps).toBeGreaterThan(2)
    expect(shared.count).toBe(1)
  } finally {
    await shared.end(1000)
  }
})

test('a closed pool opens no connection for a read', async () => {
  const pool = new PostgresPool(await makePostgresDatabase())
  const read = pool.reader('one', 'select 1 as n')
  expect(await read()).toEqual({ n: 1 })
  await pool.end()
  await expect(read()).rejects.toThrow('does not answer')
  expect(pool.counts.open).toBe(0)
})
