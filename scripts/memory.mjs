// Where tests keep their files: in memory where there is plenty, because every commit waits for a disk, and every new
// database is hundreds of files.
import { existsSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const memory = '/dev/shm'
/** What the files of a full run take, and as much again. */
const memoryBytes = 8e9

/**
 * A folder in memory, or undefined where there is too little, or where programs in it may not run. Removes what runs that were
 * killed have left there, whose names say their process.
 */
export function memoryFolder() {
  try {
    readdirSync(memory).forEach(removeLeft)
    if (/ \/dev\/shm \S+ \S*noexec/.test(readFileSync('/proc/mounts', 'utf8'))) return undefined
    const { bavail, bsize } = statfsSync(memory)
    return Math.min(bavail * bsize, process.availableMemory()) > memoryBytes ? memory : undefined
  } catch {
    // Only Linux has it.
    return undefined
  }
}

function removeLeft(name) {
  // A test may have ended its server, and start it again.
  const [, pid] = /^keyward-(?:pg|tests)-(\d+)-/.exec(name) ?? []
  if (pid === undefined || existsSync(`/proc/${pid}`)) return
  try {
    rmSync(join(memory, name), { recursive: true, force: true })
  } catch {
    // It is another account's.
  }
}
