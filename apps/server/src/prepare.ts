import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from './config.ts'
import { systemClock } from './core/clock.ts'
import type { Seal } from './core/crypto.ts'
import { openSeal } from './core/secret-key.ts'
import { migrate } from './db/migrate.ts'
import { migrations } from './db/migrations/index.ts'
import { type Database, openDatabase } from './db/open.ts'

/** Opens the database, brings its schema up to date and opens its seal. */
export async function prepare(config: Config): Promise<{ database: Database; seal: Seal }> {
  const database = openDatabase({ url: config.databaseUrl, dataDir: config.dataDir })
  try {
    const now = systemClock.now()
    await migrate(database, migrations, { now, backUp: () => backUp(database, now) })
    return { database, seal: await openSeal(database, config) }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** A whole copy of an embedded database beside it; on PostgreSQL backups are the operator's. */
function backUp(database: Database, now: number): void {
  if (database.dialect !== 'sqlite') return
  const directory = join(dirname(database.path), 'backups')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-')
  database.handles.writer.database
    .prepare('vacuum into ?')
    .run(join(directory, `before-migration-${stamp}.db`))
}
