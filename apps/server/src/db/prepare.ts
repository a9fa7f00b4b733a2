import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import type { Seal } from '../core/crypto.ts'
import { removeScratch } from './files.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations/index.ts'
import { type OpenDatabase, openDatabase } from './open.ts'
import { openSeal } from './secret-key.ts'
import { publishCopy } from './sqlite/backup/copy.ts'
import { lockDataDir, refuseUnfinishedRestore } from './sqlite/data-dir.ts'

export { findLooseModes } from './sqlite/data-dir.ts'

/** Opens the database for a server, migrates it and opens its seal. */
export async function prepare(config: Config): Promise<{ database: OpenDatabase; seal: Seal }> {
  if (config.databaseUrl !== undefined) return open(config)
  const release = lockDataDir(config.dataDir)
  try {
    refuseUnfinishedRestore(config.dataDir)
    const { database, seal } = await open(config)
    const close = async () => {
      await database.close()
      release()
    }
    return { database: { ...database, close }, seal }
  } catch (error) {
    release()
    throw error
  }
}

async function open(config: Config): Promise<{ database: OpenDatabase; seal: Seal }> {
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

/** Copies an embedded database before a migration; PostgreSQL backups are up to the operator. */
function backUp(database: OpenDatabase, now: number): void {
  if (database.dialect !== 'sqlite') return
  const directory = join(dirname(database.path), 'backups')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  removeScratch(directory)
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-')
  publishCopy(database.handles.writer.database, join(directory, `before-migration-${stamp}.db`))
}
