// Where tests write: in memory where there is plenty, because commits and new databases wait for a disk most of their time.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
/** What the databases of a full run take, and as much again. */
const plenty = 8e9

/** Makes a folder, which this process removes. Removes what processes that were killed have left in memory. */
export function makeScratch(name) {
  return mkdtempSync(join(findPlace(), `keyward-${name}-${process.pid}-`))
}

function findPlace() {
  try {
    for (const left of readdirSync(memory)) {
      // A test may have ended its server, and start it again.
      const [, pid] = /^keyward-\w+-(\d+)-/.exec(left) ?? []
      if (pid !== undefined && !existsSync(`/proc/${pid}`))
        rmSync(join(memory, left), { recursive: true, force: true })
    }
    const { bavail, bsize } = statfsSync(memory)
    const isRoomy = Math.min(bavail * bsize, process.availableMemory()) > plenty
    // Tests run programs that they compile there.
    const runsPrograms = !/ \/dev\/shm \S+ \S*\bnoexec\b/.test(readFileSync('/proc/mounts', 'utf8'))
    return isRoomy && runsPrograms ? memory : tmpdir()
  } catch {
    // Only Linux has it.
    return tmpdir()
  }
}
