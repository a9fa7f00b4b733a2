import { execFileSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A real file system of a few megabytes. */
export interface SmallDisk {
  path: string
  /** Uses up the remaining space, but for some bytes. */
  fill(spare?: number): void
  empty(): void
  unmount(): void
}

/** Mounts one; undefined without the permission to mount. */
export function mountSmallDisk(
  megabytes: number,
  owner?: { uid?: number; gid?: number },
): SmallDisk | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
  const path = mkdtempSync(join(tmpdir(), 'keyward-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    rmdirSync(path)
    return undefined
  }
  if (owner?.uid !== undefined) chownSync(path, owner.uid, owner.gid ?? owner.uid)
  const filler = join(path, 'filler')
  return {
    path,
    fill(spare = 0) {
      const file = openSync(filler, 'a')
      try {
        for (const block of [1_048_576, 4096]) {
          const bytes = Buffer.alloc(block)
          while (writesAll(file, bytes));
        }
        ftruncateSync(file, Math.max(0, fstatSync(file).size - spare))
      } finally {
        closeSync(file)
      }
    },
    empty: () => rmSync(filler, { force: true }),
    unmount() {
      execFileSync('umount', ['-l', path])
      rmdirSync(path)
    },
  }
}

function writesAll(file: number, bytes: Buffer): boolean {
  try {
    return writeSync(file, bytes) === bytes.length
  } catch {
    return false
  }
}
