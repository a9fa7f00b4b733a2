import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, vi } from 'vitest'
import type { Tx } from '../src/db/index.ts'
import { type OpenDatabase, openDatabase } from '../src/db/open.ts'
import { transact } from '../src/db/transact.ts'
import { copyMigratedFile } from './migrated.ts'

interface GroupDatabase {
  database: OpenDatabase & { dialect: 'sqlite' }
  commits: number
  /** Thrown by the next commit instead of committing. */
  commitError: Error | undefined
  open(): void
}

/** An embedded database for each test, which counts its commits; returned at once, and filled before the tests run. */
export function groupDatabaseForEach() {
  const on = {} as GroupDatabase
  let dataDir: string
  on.open = () => {
    const opened = openDatabase({ url: undefined, dataDir })
    if (opened.dialect !== 'sqlite') throw new Error('expected an embedded database')
    on.database = opened
    const { writer } = opened.handles
    const prepare = writer.prepare.bind(writer)
    writer.prepare = (text) => {
      if (text === 'commit') {
        const error = on.commitError
        on.commitError = undefined
        if (error) throw error
        on.commits += 1
      }
      return prepare(text)
    }
  }
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'keyward-groups-'))
    await copyMigratedFile(dataDir)
    on.open()
    on.commits = 0
    on.commitError = undefined
    // On a busy machine the age limit would end a group early.
    vi.spyOn(performance, 'now').mockReturnValue(0)
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await on.database.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const write = (name: string) => transact(on.database.db, (tx) => insert(tx, name))
  const writeLong = (name: string) => transact(on.database.db, (tx) => insert(tx, name), { rows: 1000 })
  const isCommitted = (name: string): boolean =>
    on.database.handles.reader.prepare('select 1 from meta where name = ?').get(name) !== undefined
  const committed = (): string[] =>
    on.database.handles.reader.database
      .prepare('select name from meta order by name')
      .all()
      .map((row) => String(row.name))
  return { on, write, writeLong, isCommitted, committed }
}

export const insert = (tx: Tx, name: string) => tx.insertInto('meta').values({ name, value: 'x' }).execute()

/** Like a disk error, a conflict with this clause makes SQLite roll back the whole transaction. */
export const rollBackAll = (tx: Tx) =>
  sql`insert or rollback into meta (name, value) values ('taken', 'x')`.execute(tx)
