import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { OperatorError } from '../core/operator-error.ts'

const day = 86_400_000
const scratchName = /^\.keyward-[0-9a-f]{16}\.partial/

/** A time as the names of files have it, such as `2027-01-31T08-30-00-000Z`. */
export const toStamp = (time: number): string => new Date(time).toISOString().replace(/[:.]/g, '-')

/** The time of a stamp. */
export const fromStamp = (stamp: string): number =>
  Date.parse(stamp.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/, 'T$1:$2:$3.$4Z'))

/** A temporary name for a file that is renamed once it is complete. */
export const scratchIn = (directory: string): string =>
  join(directory, `.keyward-${randomBytes(8).toString('hex')}.partial`)

/** Deletes temporary files of killed processes; younger files may still be in use. */
export function removeScratch(directory: string, olderThanMs = day): void {
  for (const name of readdirSync(directory).filter((each) => scratchName.test(each))) {
    const path = join(directory, name)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY)
    if (age >= olderThanMs) rmSync(path, { recursive: true, force: true })
  }
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } catch {
    // Some systems cannot sync a directory.
  } finally {
    closeSync(directory)
  }
}

/** Writes a new file with mode 0600 and syncs it to disk. */
export function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  syncDirectory(dirname(path))
}

/** Renames a complete temporary file without overwriting an existing one. */
export function publish(scratch: string, path: string): void {
  syncFile(scratch)
  try {
    linkSync(scratch, path)
    unlinkSync(scratch)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(path)) throw existing(path)
    // Fallback for a file system without hard links.
    renameSync(scratch, path)
  }
  syncDirectory(dirname(path))
}

export const existing = (path: string) =>
  new OperatorError(`${path} exists already: choose another name. Nothing was written.`)

/** Files that root creates must belong to the server's account, or the server cannot read them. */
export function matchOwnerOf(directory: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(directory)
  chownSync(path, uid, gid)
}
