import { sql } from 'kysely'
import type { Database } from './open.ts'

/** A step of the schema, forward only. */
export interface Migration {
  name: string
  statements: (dialect: 'sqlite' | 'postgres') => string[]
}

export class SchemaTooNewError extends Error {}

interface Options {
  now: number
  /** Called once before the first step on a database that already holds data. */
  backUp?: () => void
}

/** Brings the schema up to date and returns the names of the steps that ran. */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  options: Options,
): Promise<string[]> {
  const { db, dialect } = database
  await sql`create table if not exists migrations (name varchar(100) primary key, applied_at bigint not null)`.execute(
    db,
  )
  await sql`create table if not exists meta (name varchar(100) primary key, value text not null)`.execute(db)
  const done = await applied(database)
  refuseUnknown(done, migrations)
  if (done.length > 0 && done.length < migrations.length) options.backUp?.()
  return db.transaction().execute(async (tx) => {
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(5399731)`.execute(tx)
    const before = new Set(await applied({ db: tx }))
    const ran: string[] = []
    for (const migration of migrations) {
      if (before.has(migration.name)) continue
      for (const statement of migration.statements(dialect)) await sql.raw(statement).execute(tx)
      await sql`insert into migrations (name, applied_at) values (${migration.name}, ${options.now})`.execute(
        tx,
      )
      ran.push(migration.name)
    }
    return ran
  })
}

async function applied({ db }: Pick<Database, 'db'>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(db)
  return rows.map((row) => row.name)
}

function refuseUnknown(done: string[], migrations: readonly Migration[]): void {
  const known = new Set(migrations.map((migration) => migration.name))
  const unknown = done.find((name) => !known.has(name))
  if (unknown) {
    throw new SchemaTooNewError(
      `The database was migrated by a newer Keyward (step ${unknown}). Start that version, or restore a backup.`,
    )
  }
}
