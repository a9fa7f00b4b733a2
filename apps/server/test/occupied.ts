import pg from 'pg'
import { expect } from 'vitest'
import type { TestServer } from './harness.ts'

/** Runs the work while statements, which end only after it, occupy all connections but those of checks. */
export async function whileOccupied<T>(on: TestServer, work: () => Promise<T>): Promise<T> {
  const { database } = on
  if (database.dialect !== 'postgres') throw new Error('not PostgreSQL')
  const { pool } = database
  const holder = new pg.Client({ connectionString: on.config.databaseUrl })
  await holder.connect()
  let occupying: Promise<unknown> | undefined
  try {
    await holder.query('select pg_advisory_lock(4711)')
    const text = 'select pg_advisory_xact_lock_shared(4711)'
    occupying = Promise.allSettled(Array.from({ length: 20 }, () => pool.query({ text, values: [] })))
    await expect.poll(() => pool.counts.waiting).toBeGreaterThan(0)
    return await work()
  } finally {
    await holder.end()
    await occupying
  }
}
