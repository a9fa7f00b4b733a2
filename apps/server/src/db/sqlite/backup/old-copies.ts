// ADR 88: versions and upgrades.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { day } from '../../../core/clock.ts'
import { fromStamp } from '../../files.ts'

/** The newest copies of a kind stay at any age, so that no wrong clock removes the last way back. */
const keptCopies = 3
const keptDays = 30

/** Copies of before a migration are files, and what a restore replaced is a folder. */
const kinds = [
  { folder: 'backups', name: /^before-migration-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)\.db$/ },
  { folder: '.', name: /^replaced-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)$/ },
]

/** Deletes copies that are older than 30 days, but the newest three of each kind; returns their paths. */
export function removeOldCopies(dataDir: string, now: number): string[] {
  return kinds.flatMap(({ folder, name }) => {
    const directory = join(dataDir, folder)
    if (!existsSync(directory)) return []
    const paths = readdirSync(directory)
      .flatMap((each) => {
        const stamp = name.exec(each)?.[1]
        return stamp ? [{ path: join(directory, each), madeAt: fromStamp(stamp) }] : []
      })
      .sort((a, b) => b.madeAt - a.madeAt)
      .slice(keptCopies)
      .filter(({ madeAt }) => madeAt < now - keptDays * day)
      .map(({ path }) => path)
    return paths.filter(remove)
  })
}

/** Whether it is gone: a copy that belongs to another account stays, and the server starts. */
function remove(path: string): boolean {
  try {
    rmSync(path, { recursive: true })
    return true
  } catch {
    return false
  }
}
