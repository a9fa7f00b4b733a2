// ADR 8: backups that finish.
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { OperatorError } from '../../../core/operator-error.ts'
import { existing, matchOwnerOf, publish, removeScratch, scratchIn } from '../../files.ts'
import { findKey, type KeySettings, keysOf } from '../../secret-key.ts'
import { databaseFile, keyFile, refuseUnfinishedRestore } from '../data-dir.ts'
import { SqliteHandle } from '../handle.ts'
import { writeBackupFile } from './backup-file.ts'
import { copyDatabase, type Inspected, inspectDatabase } from './copy.ts'
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
  config: KeySettings,
  options: { file: string | undefined; withKey: boolean; now: number },
): BackupReport {
  const { dataDir } = config
  const source = join(dataDir, databaseFile)
  refuseUnfinishedRestore(dataDir)
  if (!existsSync(source)) {
    throw new OperatorError(`There is no database in ${dataDir}: set DATA_DIR to the server's directory.`)
  }
  const path = options.file === undefined ? defaultPath(dataDir, options.now) : resolve(options.file)
  const directory = dirname(path)
  if (!existsSync(directory)) throw new OperatorError(`There is no directory ${directory}.`)
  if (existsSync(path)) throw existing(path)
  removeScratch(directory)

  const copy = scratchIn(directory)
  const archive = scratchIn(directory)
  try {
    const handle = new SqliteHandle(source, { readOnly: true })
    try {
      copyDatabase(handle.database, copy)
    } finally {
      handle.close()
    }
    const found = inspectDatabase(copy)
    const key = options.withKey ? keyOf(config, found) : undefined
    const sha256 = writeBackupFile(archive, { database: copy, ...found, key, now: options.now })
    publish(archive, path)
    return { path, bytes: statSync(path).size, schema: found.schema, foreign: found.foreign, sha256 }
  } finally {
    for (const scratch of [copy, archive]) rmSync(scratch, { force: true })
  }
}

function defaultPath(dataDir: string, now: number): string {
  const directory = join(dataDir, 'backups')
  if (!existsSync(directory)) {
    mkdirSync(directory, { mode: 0o700 })
    matchOwnerOf(dataDir, directory)
  }
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-')
  return join(directory, `keyward-${stamp}.tar`)
}

function keyOf(config: KeySettings, { keyFingerprint, isRotating }: Inspected): string {
  if (isRotating)
    throw new OperatorError(
      'A rotation of the secret key is unfinished, so one key is not enough: finish it with keyward keys rotate. Nothing was written.',
    )
  const keys = keysOf(config).map(({ text }) => text)
  if (keys.length === 0) {
    const path = join(config.dataDir, keyFile)
    throw new OperatorError(`There is no key to back up: ${path} is missing and SECRET_KEY is not set.`)
  }
  const key = keyFingerprint === null ? keys[0] : findKey(config, keyFingerprint)
  if (key === undefined) {
    throw new OperatorError(
      'SECRET_KEY is not the key that this database was encrypted with: nothing was written.',
    )
  }
  return key
}
