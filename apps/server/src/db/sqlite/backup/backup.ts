// ADR 8: backups that finish.
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Config } from '../../../config.ts'
import { OperatorError } from '../../../core/operator-error.ts'
import { withinRoom } from '../../disk-room.ts'
import { existing, matchOwnerOf, publish, removeScratch, scratchIn, toStamp } from '../../files.ts'
import { findKey, type KeySettings, keysOf } from '../../secret-key.ts'
import { databaseFile, keyFile, refuseUnfinishedRestore, requireRoomToOpen } from '../data-dir.ts'
import { SqliteHandle } from '../handle.ts'
import { writeBackupFile } from './backup-file.ts'
import { copyDatabase, type Inspected, inspectDatabase, sizeOfCopy } from './copy.ts'
import type { ForeignObject } from './schema.ts'

interface BackupReport {
  path: string
  bytes: number
  schema: string[]
  foreign: ForeignObject | undefined
  sha256: string
}

/** Backs up an embedded database into one file; a server may be writing to it. */
export function backUp(
  config: KeySettings & Pick<Config, 'backups'>,
  options: { file: string | undefined; withKey: boolean; now: number },
): BackupReport {
  const { dataDir } = config
  const source = join(dataDir, databaseFile)
  refuseUnfinishedRestore(dataDir)
  if (!existsSync(source)) {
    throw new OperatorError(`There is no database in ${dataDir}: set DATA_DIR to the server's directory.`)
  }
  const path = resolve(options.file ?? join(config.backups.directory, nameAt(options.now)))
  const directory = dirname(path)
  requireRoomToOpen(dataDir)
  const handle = new SqliteHandle(source, { readOnly: true })
  try {
    return withinRoom(directory, sizeOfBackup(handle.database), 'A backup', () => {
      makeDefaultFolder(dataDir, directory)
      if (!existsSync(directory)) throw new OperatorError(`There is no directory ${directory}.`)
      if (existsSync(path)) throw existing(path)
      removeScratch(directory)
      const keyFor = (found: Inspected) => (options.withKey ? keyOf(config, found) : undefined)
      return writeBackup(handle.database, path, keyFor, options.now)
    })
  } finally {
    handle.close()
  }
}

function writeBackup(
  database: DatabaseSync,
  path: string,
  keyFor: (found: Inspected) => string | undefined,
  now: number,
): BackupReport {
  const copy = scratchIn(dirname(path))
  const archive = scratchIn(dirname(path))
  try {
    copyDatabase(database, copy)
    const found = inspectDatabase(copy)
    const key = keyFor(found)
    const sha256 = writeBackupFile(archive, { database: copy, ...found, key, now })
    publish(archive, path)
    return { path, bytes: statSync(path).size, schema: found.schema, foreign: found.foreign, sha256 }
  } finally {
    for (const scratch of [copy, archive]) rmSync(scratch, { force: true })
  }
}

/** Twice the database, once in the archive and once beside it. */
export const sizeOfBackup = (database: DatabaseSync): number => 2 * sizeOfCopy(database) + 1_000_000

/** The folder of backups, unless the operator chose another one: that may be a disk which is not there now. */
export function makeDefaultFolder(dataDir: string, directory: string): void {
  if (directory !== join(dataDir, 'backups') || existsSync(directory)) return
  mkdirSync(directory, { mode: 0o700 })
  matchOwnerOf(dataDir, directory)
}

const nameAt = (now: number): string => `keyward-${toStamp(now)}.tar`

/** The key of the database; throws if there is none, or another one. */
export function keyOf(config: KeySettings, { keyFingerprint, isRotating }: Inspected): string {
  if (isRotating)
    throw new OperatorError(
      'A rotation of the secret key is unfinished, so one key is not enough: finish it with keyward keys rotate. Nothing was written.',
    )
  const keys = keysOf(config).map(({ text }) => text)
  if (keys.length === 0) {
    const path = join(config.dataDir, keyFile)
    throw new OperatorError(`There is no key: ${path} is missing and SECRET_KEY is not set.`)
  }
  const key = keyFingerprint === null ? keys[0] : findKey(config, keyFingerprint)
  if (key === undefined) {
    throw new OperatorError(
      'SECRET_KEY is not the key that this database was encrypted with: nothing was written.',
    )
  }
  return key
}
