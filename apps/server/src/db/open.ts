import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { AsideDialect } from './aside.ts'
import { KeywardPostgresDialect, PostgresPool } from './postgres.ts'
import { NodeSqliteDialect, openSqlite, type SqliteHandles } from './sqlite.ts'
import { StorageRoom } from './storage-room.ts'
import type { Db, Tables, Tx } from './tables.ts'

interface Common {
  db: Kysely<Tables>
  /** For lists and searches: on SQLite a thread of its own, so that a long one stalls nobody. */
  lists: Kysely<Tables>
  room: StorageRoom
  close(): Promise<void>
}

/** An open database; what differs between the two engines branches on `dialect`. */
export type Database =
  | (Common & { dialect: 'sqlite'; handles: SqliteHandles; path: string })
  | (Common & { dialect: 'postgres'; pool: PostgresPool })

// Counts and times fit a double; pg gives them as text otherwise.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

export function openDatabase(where: { url: string | undefined; dataDir: string }): Database {
  return where.url === undefined ? openEmbedded(where.dataDir) : openPostgres(where.url)
}

function openEmbedded(dataDir: string): Database {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'keyward.db')
  // Made here, for SQLite would let others read it in a directory that was there before.
  closeSync(openSync(path, 'a', 0o600))
  const handles = openSqlite(path)
  const room = new StorageRoom(dataDir)
  const db = new Kysely<Tables>({ dialect: new NodeSqliteDialect(handles, (error) => room.note(error)) })
  const lists = new Kysely<Tables>({ dialect: new AsideDialect(path) })
  return {
    dialect: 'sqlite',
    db,
    lists,
    room,
    handles,
    path,
    close: async () => {
      await lists.destroy()
      await db.destroy()
      handles.reader.close()
      handles.writer.close()
    },
  }
}

function openPostgres(url: string): Database {
  const pool = new PostgresPool(url)
  const db = new Kysely<Tables>({ dialect: new KeywardPostgresDialect(pool) })
  return { dialect: 'postgres', db, lists: db, room: pool.room, pool, close: () => db.destroy() }
}

const serializationFailure = '40001'
const deadlockDetected = '40P01'
const sqliteBusy = 5

/** Runs `work` in one transaction, again when the database says that trying again helps. */
export async function transact<T>(db: Kysely<Tables>, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (attempt >= 6 || !isTransient(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** attempt))
    }
  }
}

function isTransient(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return code === serializationFailure || code === deadlockDetected || errcode === sqliteBusy
}

/**
 * The owner of rows that are found by their ids. SQLite keeps no statistics, takes an owner for one of few rows, and
 * would walk all of them; an expression has no index.
 */
export const ownerOf = (table: string) => sql<string>`coalesce(${sql.ref(`${table}.owner_id`)}, '')`

/** Whether a write failed because a row with the same unique value is there. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  const [sqliteUnique, sqlitePrimaryKey, postgresUnique] = [2067, 1555, '23505']
  return code === postgresUnique || errcode === sqliteUnique || errcode === sqlitePrimaryKey
}

/** Does a write; `taken` is thrown instead when a row with the same unique value is there. */
export async function unlessTaken<T>(taken: () => Error, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw isUniqueViolation(error) ? taken() : error
  }
}

export type { Db, Tx }
