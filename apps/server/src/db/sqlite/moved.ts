// ADR 92: an installation that was moved is not served any more.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../core/operator-error.ts'
import { matchOwnerOf, scratchIn, syncDirectory, writeDurably } from '../files.ts'

/** Exists in a data directory from just before the commit of a move on. */
const movedFile = 'moved.json'

export interface Moved {
  id: string
  to: string
  /** Whether the other database is known to have everything. */
  done: boolean
}

export function readMoved(dataDir: string): Moved | undefined {
  const path = join(dataDir, movedFile)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

export function writeMoved(dataDir: string, moved: Moved): void {
  const scratch = scratchIn(dataDir)
  writeDurably(scratch, `${JSON.stringify(moved)}\n`)
  matchOwnerOf(dataDir, scratch)
  renameSync(scratch, join(dataDir, movedFile))
  syncDirectory(dataDir)
}

export function clearMoved(dataDir: string): void {
  rmSync(join(dataDir, movedFile), { force: true })
  syncDirectory(dataDir)
}

/** What a server or a command wrote here would be missing in the other database. */
export function refuseMoved(dataDir: string): void {
  const moved = readMoved(dataDir)
  if (moved) throw new OperatorError(describeMoved(dataDir, moved))
}

export function describeMoved(dataDir: string, { done, to }: Moved): string {
  const path = join(dataDir, movedFile)
  return done
    ? `The data of ${dataDir} was moved to ${to}: set DATABASE_URL and SECRET_KEY. To serve the old data instead, without what was written there since, delete ${path}.`
    : `A move of ${dataDir} to ${to} was interrupted: repeat it, or give it up by deleting ${path} if no server uses that database.`
}
