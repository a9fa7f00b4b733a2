import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { OperatorError } from '../../core/operator-error.ts'
import { migrate } from '../migrate.ts'
import { migrations } from '../migrations/index.ts'
import { openDatabase } from '../open.ts'
import { createClient } from '../postgres/connect.ts'
import { type MovedTable, schemaTable } from './tables.ts'

const connectMs = 10_000

/** The name in `meta` of the id of the move that filled a database. */
const moveName = 'moved'
/** A new database has some of these, from its migrations. */
const seeded = 'coupons'

/** A connection for one long transaction; with a limit, a statement fails that takes longer. */
export async function connectTarget(url: string, limitMs?: number): Promise<pg.Client> {
  const client = createClient(url, {
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    ...(limitMs !== undefined && { query_timeout: limitMs }),
    application_name: 'keyward move',
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Creates the tables of this version, unless the database has tables of something else. */
export async function migrateTarget(url: string, client: pg.Client, now: number): Promise<void> {
  const { rows } = await client.query(
    `select tablename as name from pg_tables where schemaname = current_schema() order by tablename`,
  )
  const names = rows.map(({ name }: { name: string }) => name)
  const isOurs = ['migrations', 'meta', 'audit'].every((name) => names.includes(name))
  if (names.length > 0 && !isOurs) throw notEmpty(names[0] ?? '')
  const database = openDatabase({ url, dataDir: '' })
  try {
    await migrate(database, migrations, { now })
  } finally {
    await database.close()
  }
}

/** The id of the move that filled this database, once no other move is at work there. */
export async function moveOf(client: pg.Client): Promise<string | undefined> {
  // A move holds this lock, also one whose connection broke during its commit.
  await client.query(
    `begin; set local lock_timeout = '30s'; lock table "${schemaTable}" in share row exclusive mode; commit`,
  )
  const { rows } = await client.query('select value from meta where name = $1', [moveName])
  return rows[0]?.value
}

export async function noteMove(client: pg.Client, id: string): Promise<void> {
  await client.query('insert into meta (name, value) values ($1, $2)', [moveName, id])
}

/** Keeps everybody else from writing, then checks that there is nothing that a copy would mix with. */
export async function takeEmpty(client: pg.Client, tables: readonly MovedTable[]): Promise<void> {
  const names = tables.map(({ name }) => `"${name}"`)
  await client.query(
    "set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0; set local lock_timeout = '30s'",
  )
  await client.query(`lock table "${schemaTable}", ${names.join(', ')} in share row exclusive mode`)
  for (const { name } of tables) {
    if (name === seeded) continue
    const { rows } = await client.query(`select exists (select 1 from "${name}") as found`)
    if (rows[0]?.found) throw notEmpty(name)
  }
  await client.query(`delete from "${seeded}"`)
}

const notEmpty = (table: string) =>
  new OperatorError(
    `The database there is not empty: it has rows or a table in ${table}. Create an empty one; a server that was started on it has written to it. Nothing was changed.`,
  )

const triggered = `select distinct c.relname as name from pg_trigger
  join pg_class c on c.oid = tgrelid
  where not tgisinternal and c.relnamespace = current_schema()::regnamespace`

const references = `select conname as name, conrelid::regclass::text as table, pg_get_constraintdef(oid) as text, convalidated
  from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`

const indexes = `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as text from pg_index
  join pg_class c on c.oid = indexrelid
  where c.relnamespace = current_schema()::regnamespace
    and not exists (select 1 from pg_constraint where conindid = indexrelid)`

/**
 * Takes the triggers away that keep counts, which are copied like all other rows, the references, which would delete rows
 * of their own, and the indexes, which are quicker to build at once. Returns what puts them back; `checkReferences` then
 * checks the rows.
 */
export async function takeRules(client: pg.Client): Promise<() => Promise<void>> {
  const tables = (await client.query(triggered)).rows
  const keys = (await client.query(references)).rows
  const sorted = (await client.query(indexes)).rows
  for (const { name } of tables) await client.query(`alter table "${name}" disable trigger user`)
  for (const { name, table } of keys) await client.query(`alter table ${table} drop constraint "${name}"`)
  for (const { name } of sorted) await client.query(`drop index ${name}`)
  return async () => {
    const added = keys.map(
      ({ name, table, text }) => `alter table ${table} add constraint "${name}" ${text} not valid`,
    )
    const enabled = tables.map(({ name }) => `alter table "${name}" enable trigger user`)
    await client.query([...sorted.map(({ text }) => text), ...added, ...enabled, 'analyze'].join(';'))
  }
}

/** Checks the references of all rows, which may take a while; servers can use the database meanwhile. */
export async function checkReferences(url: string): Promise<void> {
  const client = await connectTarget(url)
  try {
    const { rows } = await client.query(references)
    for (const { name, table, convalidated } of rows)
      if (!convalidated) await client.query(`alter table ${table} validate constraint "${name}"`)
  } finally {
    await client.end()
  }
}

const settleMs = 30_000
const settleRetryMs = 500

/** Whether a move was committed whose commit got no answer; undefined if the database does not say. */
export async function wasCommitted(url: string, id: string): Promise<boolean | undefined> {
  const until = performance.now() + settleMs
  do {
    const client = await connectTarget(url, settleMs).catch(() => undefined)
    try {
      if (client) return (await moveOf(client)) === id
    } catch {
      // It broke again.
    } finally {
      await client?.end().catch(() => {})
    }
    await pause(settleRetryMs)
  } while (performance.now() < until)
  return undefined
}
