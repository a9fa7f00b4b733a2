import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { DatabaseUnavailableError } from '../failure.ts'
import type { Tables } from '../tables.ts'
import { transact } from '../transact.ts'
import { KeywardPostgresDialect } from './driver.ts'
import { isConnectionFault } from './errors.ts'

const pending = { noteWrite: () => {} }

test('discards a connection on which a transaction did not begin: it may be open', async () => {
  const released: unknown[] = []
  const fail = async () => {
    throw new Error('canceled')
  }
  const client = {
    begins: async () => [{ text: 'begin' }],
    named: async () => [{ text: 'select $1' }],
    query: fail,
    queryTogether: fail,
    release: (discard: boolean) => void released.push(discard),
  }
  const pool = { connect: async () => client }
  const db = new Kysely({ dialect: new KeywardPostgresDialect(pool as never) })
  const work = (tx: typeof db) => sql`select ${1}`.execute(tx)
  await expect(db.transaction().execute(work)).rejects.toThrow('canceled')
  expect(released).toEqual([true])
})

test('a patient transaction begins once PostgreSQL responds again; another one fails', async () => {
  let failures = 0
  const client = {
    query: async () => ({ command: 'ROLLBACK', rows: [] }),
    begins: async () => [{ text: 'begin' }],
    queryTogether: async () => [
      { command: 'BEGIN', rows: [] },
      { command: 'SELECT 1', rows: [{ id: '7' }] },
    ],
    bePatient: async () => {},
    commit: async () => 'COMMIT',
    release: () => {},
  }
  const connect = async () => {
    failures += 1
    if (failures < 3) throw new DatabaseUnavailableError('PostgreSQL does not answer')
    return client
  }
  const db = new Kysely<Tables>({ dialect: new KeywardPostgresDialect({ connect, pending } as never) })
  const work = async () => 'done'
  await expect(transact(db, work)).rejects.toThrow('does not answer')
  failures = 0
  expect(await transact(db, work, { isPatient: true })).toBe('done')
  expect(failures).toBe(3)
})

test.each([
  ['another transaction kept a lock', '55P03'],
  ['a standby accepts no writes', '25006'],
])('a patient transaction is repeated when %s; another one fails', async (_why, code) => {
  const client = {
    query: async () => ({ command: 'ROLLBACK', rows: [] }),
    begins: async () => [{ text: 'begin' }],
    queryTogether: async () => [
      { command: 'BEGIN', rows: [] },
      { command: 'SELECT 1', rows: [{ id: '7' }] },
    ],
    bePatient: async () => {},
    commit: async () => 'COMMIT',
    release: () => {},
  }
  const db = new Kysely<Tables>({
    dialect: new KeywardPostgresDialect({ connect: async () => client, pending } as never),
  })
  let runs = 0
  const work = async () => {
    runs += 1
    if (runs === 1) throw Object.assign(new Error('undone'), { code })
    return runs
  }
  expect(await transact(db, work, { isPatient: true })).toBe(2)
  runs = 0
  await expect(transact(db, work)).rejects.toThrow('undone')
})

test('a time limit that leaves the outcome open counts as a lost connection', () => {
  const ended = Object.assign(new pg.DatabaseError('terminating connection', 1, 'error'), { code: '25P04' })
  expect(isConnectionFault(ended)).toBe(true)
  // The driver throws this after a `query_timeout` in DATABASE_URL.
  expect(isConnectionFault(new Error('Query read timeout'))).toBe(true)
})
