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

/** Where to write a file that gets its name once it is whole. */
export const scratchIn = (directory: string): string =>
  join(directory, `.keyward-${randomBytes(8).toString('hex')}.partial`)

/** Removes what processes that were killed left behind; a younger file may still be written. */
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
    // Some systems cannot do this for a directory.
  } finally {
    closeSync(directory)
  }
}

/** Writes a new file that others cannot read; it is on disk when this returns. */
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

/** Gives a whole file its name, and never that of another file. */
export function publish(scratch: string, path: string): void {
  syncFile(scratch)
  try {
    linkSync(scratch, path)
    unlinkSync(scratch)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(path)) throw existing(path)
    // A file system without hard links.
    renameSync(scratch, path)
  }
  syncDirectory(dirname(path))
}

export const existing = (path: string) =>
  new OperatorError(`${path} is there already: choose another name, nothing was written.`)

/** What root makes in a directory of the server's account must belong to that account. */
export function giveToOwnerOf(directory: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(directory)
  chownSync(path, uid, gid)
}
