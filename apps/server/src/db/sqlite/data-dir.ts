// ADR 8: the lock of a data directory.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../core/operator-error.ts'
import { requireRoom } from '../disk-room.ts'
import { matchOwnerOf } from '../files.ts'

export const databaseFile = 'keyward.db'
export const keyFile = 'secret.key'
/** Exists while a restore replaces the files. */
export const unfinishedFile = 'restore.unfinished'

/** For a new database with its log, and for the shared memory of one that was closed. */
const roomToOpen = { new: 8_000_000, closed: 131_072 }

// A server that has just been stopped may still be closing its database.
const patienceMs = 1000
// Referenced here because a garbage-collected connection releases its lock.
const held = new Set<DatabaseSync>()

/**
 * Locks a data directory for this process and returns a function that unlocks it. The operating system holds the lock
 * on an open file, so it ends with the process, and a leftover file does no harm.
 */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const release = tryLock(dataDir)
  if (release) return release
  throw new OperatorError(
    `Another Keyward server is running on ${dataDir}: stop it first, or set DATA_DIR to another directory.`,
  )
}

/** Whether a server, or a move, uses a data directory. */
export function isServed(dataDir: string): boolean {
  const release = tryLock(dataDir)
  release?.()
  return release === undefined
}

/** Undefined if another process keeps it locked. */
function tryLock(dataDir: string): (() => void) | undefined {
  const path = join(dataDir, 'server.lock')
  if (existsSync(path)) checkLockFile(path)
  else {
    // Open with `a`: processes that create the file at the same moment must share one file.
    closeSync(openSync(path, 'a', 0o600))
    matchOwnerOf(dataDir, path)
  }
  const lock = new DatabaseSync(path, { timeout: patienceMs })
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    lock.close()
    const { errcode } = error as { errcode?: number }
    if (errcode === sqliteNoDatabase)
      throw new OperatorError(
        `${path} is damaged: delete it while no Keyward server is running on ${dataDir}.`,
      )
    if (errcode !== sqliteBusy) throw error
    return undefined
  }
  held.add(lock)
  return () => {
    if (held.delete(lock)) lock.close()
  }
}

const [sqliteBusy, sqliteNoDatabase] = [5, 26]

/** Without opening the file, because closing it again would release a lock that this process holds on it. */
function checkLockFile(path: string): void {
  if (statSync(path).isDirectory()) throw new OperatorError(`${path} is a directory, but must be a file.`)
  accessSync(path, constants.R_OK | constants.W_OK)
}

/** Refuses, before anything is written, to open a database on a full disk. One that was killed opens without space. */
export function requireRoomToOpen(dataDir: string): void {
  const path = join(dataDir, databaseFile)
  const isNew = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
  if (isNew) requireRoom(dataDir, roomToOpen.new, 'A new database')
  else if (!existsSync(`${path}-shm`)) requireRoom(dataDir, roomToOpen.closed, 'The database')
}

export function refuseUnfinishedRestore(dataDir: string): void {
  const marker = join(dataDir, unfinishedFile)
  if (!existsSync(marker)) return
  throw new OperatorError(
    `A restore was interrupted: run it again, or move the files in ${readFileSync(marker, 'utf8').trim()} back to ${dataDir} and delete ${marker}.`,
  )
}

/** Returns one line for each secret file that other accounts of the system can open. */
export const findLooseModes = (dataDir: string): string[] =>
  listLooseFiles(dataDir).map(({ text, wanted }) => `${text}: chmod ${wanted} it`)

/** Secret files that other accounts of the system can open, with the mode that closes them. */
export function listLooseFiles(dataDir: string): { path: string; text: string; wanted: string }[] {
  if (process.platform === 'win32') return []
  const modeOf = (path: string) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777
  const names = existsSync(dataDir) ? readdirSync(dataDir) : []
  const keys = names.filter((name) => name.startsWith(keyFile)).sort()
  const files = [...keys, databaseFile].flatMap((name) => {
    const path = join(dataDir, name)
    const mode = modeOf(path)
    const text = `${path} is open to other accounts (mode ${mode.toString(8)})`
    return mode & 0o077 ? [{ path, text, wanted: '600' }] : []
  })
  const mode = modeOf(dataDir)
  if ((mode & 0o022) === 0) return files
  const text = `${dataDir} can be changed by other accounts (mode ${mode.toString(8)})`
  return [...files, { path: dataDir, text, wanted: '700' }]
}
