// ADR 8: backups that finish.
import { closeSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { publish, scratchIn } from '../../files.ts'
import { migrations } from '../../migrations/index.ts'
import { fingerprintName, rotationName, unfinishedIn } from '../../secret-key.ts'
import { SqliteHandle } from '../handle.ts'
import { type ForeignObject, findForeignObject } from './schema.ts'

/**
 * Copies a database into a new file with mode 0600. `vacuum into` reads one snapshot, so it always finishes; SQLite's
 * backup API restarts whenever another process writes.
 */
export function copyDatabase(database: DatabaseSync, path: string): void {
  closeSync(openSync(path, 'wx', 0o600))
  database.prepare('vacuum into ?').run(path)
}

/** About how many bytes a copy takes: it has no free pages. */
export function sizeOfCopy(database: DatabaseSync): number {
  const read = (name: string) => Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0])
  return (read('page_count') - read('freelist_count')) * read('page_size')
}

/** Copies under a temporary name first, so that `path` never names an incomplete file. */
export function publishCopy(database: DatabaseSync, path: string): void {
  const scratch = scratchIn(dirname(path))
  try {
    copyDatabase(database, scratch)
    publish(scratch, path)
  } finally {
    rmSync(scratch, { force: true })
  }
}

export interface Inspected {
  /** The names of its migrations. */
  schema: string[]
  foreign: ForeignObject | undefined
  keyFingerprint: string | null
  /** Whether some values are sealed with the key before. */
  isRotating: boolean
}

/** Checks the integrity of a database and reads its schema and key fingerprint. */
export function inspectDatabase(path: string): Inspected {
  const handle = new SqliteHandle(path, { readOnly: true })
  try {
    const schema = handle.prepare('select name from migrations order by name').all()
    const names = schema.map((row) => String(row.name))
    const foreign = findForeignObject(
      handle,
      migrations.filter(({ name }) => names.includes(name)),
    )
    const [check] = handle.prepare('pragma integrity_check(1)').all()
    const found = Object.values(check ?? {})[0]
    if (found !== 'ok') throw new Error(String(found))
    const statement = handle.prepare('select value from meta where name = ?')
    const meta = (name: string) => statement.get(name)?.value?.toString()
    const fingerprint = meta(fingerprintName)
    return {
      schema: names,
      foreign,
      keyFingerprint: fingerprint ?? null,
      isRotating: unfinishedIn(meta(rotationName), fingerprint) !== undefined,
    }
  } finally {
    handle.close()
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  }
}
