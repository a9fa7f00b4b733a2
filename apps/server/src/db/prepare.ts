import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import type { SealRing } from '../core/crypto.ts'
import { version } from '../core/version.ts'
import { isDiskFull, withinRoom } from './disk-room.ts'
import { removeScratch, toStamp } from './files.ts'
import { migrate, readSchema, type SchemaState } from './migrate.ts'
import { migrations } from './migrations/index.ts'
import { type OpenDatabase, openDatabase } from './open.ts'
import { openSeal } from './secret-key.ts'
import { publishCopy, sizeOfCopy } from './sqlite/backup/copy.ts'
import { removeOldCopies } from './sqlite/backup/old-copies.ts'
import { lockDataDir, refuseUnfinishedRestore, requireRoomToOpen } from './sqlite/data-dir.ts'
import { refuseMoved } from './sqlite/moved.ts'

export { findLooseModes } from './sqlite/data-dir.ts'
export { refuseMoved } from './sqlite/moved.ts'

/** Tells the operator what happens, one line at a time, before it begins. */
type Tell = (line: string) => void | Promise<void>

/** Opens the database for a server, migrates it and opens its seal. */
export async function prepare(
  config: Config,
  tell: Tell = () => {},
): Promise<{ database: OpenDatabase; seal: SealRing }> {
  if (config.databaseUrl !== undefined) return open(config, tell)
  requireRoomToOpen(config.dataDir)
  const release = lockDataDir(config.dataDir)
  try {
    refuseUnfinishedRestore(config.dataDir)
    refuseMoved(config.dataDir)
    const { database, seal } = await open(config, tell)
    for (const name of removeOldCopies(config.dataDir, systemClock.now()))
      await tell(`Removed ${name}, an old copy`)
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

async function open(config: Config, tell: Tell): Promise<{ database: OpenDatabase; seal: SealRing }> {
  const database = openDatabase({ url: config.databaseUrl, dataDir: config.dataDir })
  let copy: string | undefined
  try {
    const now = systemClock.now()
    const ran = await migrate(database, migrations, {
      now,
      backUp: async (missing) => {
        await tell(`Upgrading the database to ${version}: ${describe(missing)}`)
        copy = backUp(database, now)
        if (copy) await tell(`Its copy of before is ${copy}`)
      },
    })
    const seconds = ((systemClock.now() - now) / 1000).toFixed(1)
    if (ran.length > 0 && ran.length < migrations.length) await tell(`Upgraded the database in ${seconds} s`)
    return { database, seal: await openSeal(database, config) }
  } catch (error) {
    await database.close()
    // The database is as before, and the copy would take the space that the next start needs.
    if (copy && isDiskFull(error)) rmSync(copy, { force: true })
    throw error
  }
}

/** Reads which migrations ran, and which ones the next start runs. */
export const readSchemaState = (database: OpenDatabase): Promise<SchemaState> =>
  readSchema(database, migrations)

/** Copies an embedded database before a migration; PostgreSQL backups are up to the operator. */
function backUp(database: OpenDatabase, now: number): string | undefined {
  if (database.dialect !== 'sqlite') return undefined
  const directory = join(dirname(database.path), 'backups')
  const path = join(directory, `before-migration-${toStamp(now)}.db`)
  const { database: writer } = database.handles.writer
  withinRoom(directory, sizeOfCopy(writer), 'The copy of before the upgrade', () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    removeScratch(directory)
    publishCopy(writer, path)
  })
  return path
}

const describe = (names: readonly string[]): string =>
  names.length === 1 ? `migration ${names[0]}` : `${names.length} migrations, ${names[0]} to ${names.at(-1)}`
