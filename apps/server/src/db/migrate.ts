import { sql } from 'kysely'
import { OperatorError } from '../core/operator-error.ts'
import type { OpenDatabase } from './open.ts'
import type { Db } from './tables.ts'

/** A forward-only step of the schema. */
export interface Migration {
  name: string
  statements: (dialect: 'sqlite' | 'postgres') => string[]
  /** Changes rows as SQL cannot, after the statements. */
  convert?: (tx: Db, dialect: 'sqlite' | 'postgres') => Promise<void>
}

export class SchemaTooNewError extends OperatorError {}

interface Options {
  now: number
  /** Called once before the first step if the database already has a schema. */
  backUp?: (missing: readonly string[]) => void | Promise<void>
}

/** Names of migrations in the order in which they run. */
export interface SchemaState {
  applied: string[]
  missing: string[]
}

/** Reads which migrations ran, and which ones the next start runs; changes nothing. */
export async function readSchema(
  database: OpenDatabase,
  migrations: readonly Migration[],
): Promise<SchemaState> {
  const done = await appliedIfAny(database)
  refuseUnknown(done, migrations)
  return {
    applied: done,
    missing: migrations.map(({ name }) => name).filter((name) => !done.includes(name)),
  }
}

/** Runs the missing migrations and returns their names. */
export async function migrate(
  database: OpenDatabase,
  migrations: readonly Migration[],
  options: Options,
): Promise<string[]> {
  const { db, dialect } = database
  const { applied: before, missing } = await readSchema(database, migrations)
  if (before.length > 0 && missing.length > 0) await options.backUp?.(missing)
  return db.transaction().execute(async (tx) => {
    // Lock first: `create table if not exists` fails when several nodes run it at once.
    if (dialect === 'postgres') {
      // Another node may be migrating for a long time.
      await sql`set local lock_timeout = 0`.execute(tx)
      await sql`select pg_advisory_xact_lock(5399731)`.execute(tx)
    }
    for (const statement of createTables) await sql.raw(statement).execute(tx)
    const done = await applied(tx)
    refuseUnknown(done, migrations)
    if (dialect === 'postgres' && done.length === 0) await requireUtf8(tx)
    const ran: string[] = []
    for (const migration of migrations) {
      if (done.includes(migration.name)) continue
      for (const statement of migration.statements(dialect)) await sql.raw(statement).execute(tx)
      await migration.convert?.(tx, dialect)
      await sql`insert into migrations (name, applied_at) values (${migration.name}, ${options.now})`.execute(
        tx,
      )
      ran.push(migration.name)
    }
    return ran
  })
}

/** Other encodings cannot store every name, or compare texts byte by byte. A database with data keeps its encoding. */
async function requireUtf8(db: Db): Promise<void> {
  const { rows } = await sql<{
    encoding: string
  }>`select current_setting('server_encoding') as encoding`.execute(db)
  const encoding = rows[0]?.encoding
  if (encoding === 'UTF8') return
  throw new OperatorError(
    `The database of DATABASE_URL is encoded as ${encoding}: create one with the encoding UTF8, then retry.`,
  )
}

/** The tables that exist before the first step. */
export const createTables = [
  'create table if not exists migrations (name varchar(100) primary key, applied_at bigint not null)',
  'create table if not exists meta (name varchar(100) primary key, value text not null)',
]

async function applied(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(db)
  return rows.map((row) => row.name)
}

async function appliedIfAny({ db, dialect }: Pick<OpenDatabase, 'db' | 'dialect'>): Promise<string[]> {
  const { rows } =
    dialect === 'sqlite'
      ? await sql`select 1 from sqlite_master where name = 'migrations'`.execute(db)
      : await sql`select 1 where to_regclass('migrations') is not null`.execute(db)
  return rows.length === 0 ? [] : applied(db)
}

/** Throws when a newer version of the server has migrated the database. */
export function refuseUnknown(done: readonly string[], migrations: readonly Pick<Migration, 'name'>[]): void {
  const known = new Set(migrations.map((migration) => migration.name))
  const unknown = done.find((name) => !known.has(name))
  if (unknown) {
    throw new SchemaTooNewError(
      `The database was migrated by a newer Keyward (step ${unknown}). Start that version, or restore a backup.`,
    )
  }
}
