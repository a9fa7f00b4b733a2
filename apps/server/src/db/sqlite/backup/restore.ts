// ADR 8: a restore replaces the database as a whole.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { createSeal } from '../../../core/crypto.ts'
import { OperatorError } from '../../../core/operator-error.ts'
import { withinRoom } from '../../disk-room.ts'
import {
  matchOwnerOf,
  removeScratch,
  scratchIn,
  syncDirectory,
  syncFile,
  toStamp,
  writeDurably,
} from '../../files.ts'
import { refuseUnknown } from '../../migrate.ts'
import { migrations } from '../../migrations/index.ts'
import { findKey, type KeySettings } from '../../secret-key.ts'
import { databaseFile, keyFile, lockDataDir, unfinishedFile } from '../data-dir.ts'
import { checkedChunks, damaged, readBackupFile } from './backup-file.ts'
import { inspectDatabase } from './copy.ts'
import { readChunks } from './tar.ts'

interface RestoreReport {
  /** Undefined for a plain database file, which has no manifest. */
  createdAt: string | undefined
  /** Directory that now holds the replaced files; undefined when there were none. */
  replaced: string | undefined
}

/** Restores a verified backup into DATA_DIR; fails while a server runs there. */
export function restore(config: KeySettings, options: { file: string; now: number }): RestoreReport {
  const { dataDir } = config
  const { file, now } = options
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new OperatorError(`There is no file ${file}.`)
  const release = lockDataDir(dataDir)
  try {
    undoInterrupted(dataDir)
    removeScratch(dataDir, 0)
    const scratch = scratchIn(dataDir)
    try {
      const { key, createdAt } = withinRoom(dataDir, statSync(file).size, 'A restore', () =>
        unpack(file, scratch),
      )
      const { keyFingerprint } = inspect(file, scratch)
      const newKey = neededKey(config, key, keyFingerprint)
      matchOwnerOf(dataDir, scratch)
      return { createdAt, replaced: exchange(dataDir, { database: scratch, key: newKey, now }) }
    } finally {
      rmSync(scratch, { force: true })
    }
  } finally {
    release()
  }
}

/** Puts back the files that an interrupted restore moved, so that all replaced files end up in one directory. */
function undoInterrupted(dataDir: string): void {
  const marker = join(dataDir, unfinishedFile)
  if (!existsSync(marker)) return
  const replacedDir = join(dataDir, basename(readFileSync(marker, 'utf8').trim()))
  if (replacedDir !== dataDir && existsSync(replacedDir)) {
    for (const name of readdirSync(replacedDir)) renameSync(join(replacedDir, name), join(dataDir, name))
    syncDirectory(dataDir)
    rmSync(replacedDir, { recursive: true })
  }
  rmSync(marker)
  syncDirectory(dataDir)
}

/** Writes the database of a backup to `path`; also accepts a plain database, such as a copy made before a migration. */
function unpack(file: string, path: string): { key: string | undefined; createdAt: string | undefined } {
  if (isDatabase(file)) {
    if (existsSync(`${file}-wal`)) {
      throw new OperatorError(`${file} is a database in use: make a backup of it with keyward backup.`)
    }
    write(path, readChunks(file))
    return { key: undefined, createdAt: undefined }
  }
  const contents = readBackupFile(file)
  refuseUnknown(contents.manifest.schema, migrations)
  write(path, checkedChunks(file, contents))
  return { key: contents.key, createdAt: contents.manifest.createdAt }
}

function isDatabase(file: string): boolean {
  const magic = Buffer.alloc(16)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, magic, 0, magic.length, 0)
  } finally {
    closeSync(descriptor)
  }
  return magic.toString('latin1') === 'SQLite format 3\0'
}

function write(path: string, chunks: Iterable<Buffer>): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    for (const chunk of chunks) writeFileSync(file, chunk)
  } finally {
    closeSync(file)
  }
  syncFile(path)
}

function inspect(file: string, path: string) {
  try {
    const found = inspectDatabase(path)
    refuseUnknown(found.schema, migrations)
    if (found.foreign) {
      const { type, name } = found.foreign
      throw new OperatorError(
        `${file} contains the ${type} ${JSON.stringify(name)}, which Keyward did not make. Nothing was changed.`,
      )
    }
    return found
  } catch (error) {
    throw error instanceof OperatorError
      ? error
      : damaged(file, (error as Error).message.split('\n', 1)[0] ?? '')
  }
}

/** The key to write into the directory; undefined when the current key already opens the database. */
function neededKey(config: KeySettings, included: string | undefined, fingerprint: string | null) {
  if (fingerprint === null) return undefined
  const opens = (key: string | undefined) => key !== undefined && createSeal(key).fingerprint === fingerprint
  if (config.secretKey !== undefined) {
    if (findKey(config, fingerprint) !== undefined) return undefined
    throw new OperatorError(
      'SECRET_KEY is not the key that this backup was encrypted with. Nothing was changed.',
    )
  }
  const path = join(config.dataDir, keyFile)
  if (findKey(config, fingerprint) !== undefined) return undefined
  if (opens(included)) return included
  throw new OperatorError(
    included === undefined
      ? `The backup holds no key, and ${path} does not open it: put its secret.key there first. Nothing was changed.`
      : 'The key in the backup does not open its database. Nothing was changed.',
  )
}

/**
 * Replaces the files and keeps the old ones in a new directory. A marker file keeps servers from starting meanwhile.
 */
function exchange(
  dataDir: string,
  replacement: { database: string; key: string | undefined; now: number },
): string | undefined {
  const replacedDir = join(dataDir, `replaced-${toStamp(replacement.now)}`)
  const leaving = [databaseFile, `${databaseFile}-wal`, `${databaseFile}-shm`]
  if (replacement.key !== undefined) leaving.push(keyFile)
  const present = leaving.filter((name) => existsSync(join(dataDir, name)))
  const marker = join(dataDir, unfinishedFile)

  mkdirSync(replacedDir, { mode: 0o700 })
  matchOwnerOf(dataDir, replacedDir)
  const moved: string[] = []
  let hasNewKey = false
  try {
    writeDurably(marker, `${replacedDir}\n`)
    for (const name of present) {
      renameSync(join(dataDir, name), join(replacedDir, name))
      moved.push(name)
    }
    syncDirectory(replacedDir)
    if (replacement.key !== undefined) {
      hasNewKey = true
      writeDurably(join(dataDir, keyFile), `${replacement.key}\n`)
      matchOwnerOf(dataDir, join(dataDir, keyFile))
    }
    renameSync(replacement.database, join(dataDir, databaseFile))
  } catch (error) {
    if (hasNewKey) rmSync(join(dataDir, keyFile), { force: true })
    for (const name of moved) renameSync(join(replacedDir, name), join(dataDir, name))
    rmSync(marker, { force: true })
    rmSync(replacedDir, { recursive: true })
    throw error
  }
  syncDirectory(dataDir)
  rmSync(marker)
  syncDirectory(dataDir)
  if (present.length > 0) return replacedDir
  rmSync(replacedDir, { recursive: true })
  return undefined
}
