// ADR 98: a scheduled backup gets its name once a restore of it has succeeded.
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { OperatorError } from '../../../core/operator-error.ts'
import { DiskFullError, filledUp, isDiskFull, requireRoom } from '../../disk-room.ts'
import { publish } from '../../files.ts'
import type { KeySettings } from '../../secret-key.ts'
import { databaseFile } from '../data-dir.ts'
import { SqliteHandle } from '../handle.ts'
import { keyOf, makeDefaultFolder, sizeOfBackup } from './backup.ts'
import { writeBackupFile } from './backup-file.ts'
import { copyDatabase, inspectDatabase } from './copy.ts'
import { restore } from './restore.ts'

export interface BackupOrder extends KeySettings {
  directory: string
  name: string
  /** The name of a folder in `directory` for unfinished files. */
  scratch: string
  now: number
}

/** What made a backup fail, for the advice to the operator. */
export type BackupFault = 'space' | 'folder' | 'database' | 'restore' | 'process'

export type BackupResult = { bytes: number } | { fault: BackupFault; reason: string }

/** The server goes on writing: a backup takes none of the last megabytes. */
const reserveBytes = 16_000_000

/**
 * Backs up the database of a running server, restores the backup into a scratch folder, and only then gives it its name.
 * Gives up between two steps once `isWanted` is false; `onWritten` is for tests.
 */
export async function makeVerifiedBackup(
  order: BackupOrder,
  isWanted: () => boolean,
  onWritten: (archive: string) => void = () => {},
): Promise<BackupResult> {
  const { dataDir, directory, now } = order
  const scratch = join(directory, order.scratch)
  const archive = join(scratch, order.name)
  let step: BackupFault = 'folder'
  let room = 0
  const begin = async (next: BackupFault) => {
    step = next
    await turn()
    if (!isWanted()) throw new OperatorError('The server has ended.')
  }
  try {
    makeDefaultFolder(dataDir, directory)
    if (!existsSync(directory)) throw new OperatorError(`There is no directory ${directory}.`)
    await begin('database')
    const copy = join(scratch, 'copy.db')
    const source = new SqliteHandle(join(dataDir, databaseFile), { readOnly: true })
    try {
      room = sizeOfBackup(source.database) + reserveBytes
      requireRoom(directory, room, 'A backup')
      mkdirSync(scratch, { mode: 0o700 })
      copyDatabase(source.database, copy)
    } finally {
      source.close()
    }
    await begin('database')
    const found = inspectDatabase(copy)
    writeBackupFile(archive, { database: copy, ...found, key: undefined, now })
    rmSync(copy)
    onWritten(archive)
    await begin('restore')
    const restored = join(scratch, 'restored')
    const secretKey = keyOf(order, found)
    restore({ dataDir: restored, secretKey, secretKeyPrevious: undefined }, { file: archive, now })
    rmSync(restored, { recursive: true })
    await begin('folder')
    publish(archive, join(directory, order.name))
    return { bytes: statSync(join(directory, order.name)).size }
  } catch (error) {
    const isFull = isDiskFull(error) && !(error instanceof DiskFullError)
    return explain(isFull ? filledUp(directory, room, 'A backup') : (error as Fault), step, archive)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

type Fault = Error & { code?: string; syscall?: string; path?: string }

function explain(error: Fault, step: BackupFault, archive: string): BackupResult {
  const [line = ''] = error.message.split('\n', 1)
  // A restore into the scratch folder has changed nothing that matters.
  const text = line.replaceAll(archive, basename(archive)).replace(/ Nothing was changed\.$/, '')
  if (error instanceof DiskFullError) return { fault: 'space', reason: text }
  if (error instanceof OperatorError) return { fault: step, reason: text }
  const { code, syscall, path = dirname(archive) } = error
  if (syscall !== undefined) return { fault: 'folder', reason: `${path} cannot be written to (${code}).` }
  return { fault: step, reason: sentence(`The database cannot be ${verbs[step] ?? 'used'}: ${text}`) }
}

const verbs: Partial<Record<BackupFault, string>> = { database: 'copied', restore: 'restored' }

const sentence = (text: string): string => text.replace(/\.?$/, '.')
