import { existsSync, type StatsFs, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../core/operator-error.ts'

/** A disk has too little space for what was about to be written. */
export class DiskFullError extends OperatorError {}

/** The bytes that this account can still write. Some file systems report no blocks. */
export const freeOf = ({ blocks, bavail, bsize }: StatsFs): number =>
  blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize

/** Throws, before anything is written, unless the disk of a directory has this much space; it need not exist yet. */
export function requireRoom(directory: string, bytes: number, what: string): void {
  const free = freeOf(statfsSync(existingPart(directory)))
  if (free < bytes) throw full(directory, bytes, what, `${toMegabytes(free, Math.floor)} MB are free`)
}

/** Work that another writer left too little space for says the same. */
export function withinRoom<T>(directory: string, bytes: number, what: string, work: () => T): T {
  requireRoom(directory, bytes, what)
  try {
    return work()
  } catch (error) {
    if (!isDiskFull(error) || error instanceof DiskFullError) throw error
    throw filledUp(directory, bytes, what)
  }
}

export const filledUp = (directory: string, bytes: number, what: string): DiskFullError =>
  full(directory, bytes, what, 'the disk filled up meanwhile')

const full = (directory: string, bytes: number, what: string, but: string) =>
  new DiskFullError(
    `${what} needs ${toMegabytes(bytes)} MB in ${directory}, and ${but}: free some space, then retry. Nothing was changed.`,
  )

function existingPart(path: string): string {
  const above = dirname(path)
  return existsSync(path) || above === path ? path : existingPart(above)
}

/** In tenths; rounded up, because less would not suffice. */
export const toMegabytes = (bytes: number, round: (tenths: number) => number = Math.ceil): string =>
  (round(bytes / 100_000) / 10).toFixed(1)

const sqliteFull = 13
/** The shared memory of SQLite could not grow. */
const sqliteSharedMemorySize = 4874

export function isDiskFull(error: unknown): boolean {
  if (error instanceof DiskFullError) return true
  const { code, errcode = 0 } = (error ?? {}) as { code?: string; errcode?: number }
  return (
    code === 'ENOSPC' ||
    code === 'EDQUOT' ||
    errcode === sqliteSharedMemorySize ||
    (errcode & 0xff) === sqliteFull
  )
}
