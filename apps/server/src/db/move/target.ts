import pg from 'pg'
import { OperatorError } from '../../core/operator-error.ts'
import { migrate } from '../migrate.ts'
import { migrations } from '../migrations/index.ts'
import { openDatabase } from '../open.ts'
import { type MovedTable, type Reference, schemaTable } from './tables.ts'

const connectMs = 10_000

/** The name in `meta` of the id of the move that filled a database. */
const moveName = 'moved'
/** A new database has some of these, from its migrations. */
const seeded = 'coupons'

/** A connection for one long transaction. */
export async function connectTarget(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
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

/** The id of the move that filled this database. */
export async function moveOf(client: pg.Client): Promise<string | undefined> {
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

/**
 * Runs work without the triggers that keep counts, which are copied like all other rows. The references of tables that
 * refer to each other are checked afterwards.
 */
export async function withoutTriggers(
  client: pg.Client,
  late: readonly Reference[],
  work: () => Promise<void>,
): Promise<void> {
  const { rows } = await client.query(triggered)
  const triggers = async (state: 'enable' | 'disable') => {
    for (const { name } of rows) await client.query(`alter table "${name}" ${state} trigger user`)
  }
  const references = async (state: 'deferrable initially deferred' | 'not deferrable') => {
    for (const { name, child } of late)
      await client.query(`alter table "${child}" alter constraint "${name}" ${state}`)
  }
  await triggers('disable')
  await references('deferrable initially deferred')
  await work()
  await client.query('set constraints all immediate')
  await references('not deferrable')
  await triggers('enable')
}
