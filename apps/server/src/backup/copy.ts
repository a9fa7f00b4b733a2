import { closeSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fingerprintName } from '../core/secret-key.ts'
import { publish, scratchIn } from '../db/files.ts'
import { SqliteHandle } from '../db/sqlite.ts'

/**
 * Copies a database into a new file that others cannot read. `vacuum into` reads one snapshot in one go: unlike
 * SQLite's backup, which begins again at every write of another process, it ends however much is written.
 */
export function copyDatabase(database: DatabaseSync, path: string): void {
  closeSync(openSync(path, 'wx', 0o600))
  database.prepare('vacuum into ?').run(path)
}

/** The same under its final name, which a file that is not whole never has. */
export function publishCopy(database: DatabaseSync, path: string): void {
  const scratch = scratchIn(dirname(path))
  try {
    copyDatabase(database, scratch)
    publish(scratch, path)
  } finally {
    rmSync(scratch, { force: true })
  }
}

/** What a database says of itself, after all of it was checked. */
export function inspectDatabase(path: string): { schema: string[]; keyFingerprint: string | null } {
  const handle = new SqliteHandle(path, { readOnly: true })
  try {
    const [check] = handle.prepare('pragma integrity_check(1)').all()
    const found = Object.values(check ?? {})[0]
    if (found !== 'ok') throw new Error(String(found))
    const schema = handle.prepare('select name from migrations order by name').all()
    const fingerprint = handle.prepare('select value from meta where name = ?').get(fingerprintName)
    return {
      schema: schema.map((row) => String(row.name)),
      keyFingerprint: fingerprint ? String(fingerprint.value) : null,
    }
  } finally {
    handle.close()
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  }
}
