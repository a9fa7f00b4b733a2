// ADR 92: moves the embedded database of a stopped server to PostgreSQL.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Config } from '../../config.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { isSqliteBusy } from '../failure.ts'
import { readSchema } from '../migrate.ts'
import { migrations } from '../migrations/index.ts'
import { openDatabase } from '../open.ts'
import { type KeySettings, openSeal, readKeyMeta } from '../secret-key.ts'
import { databaseFile, lockDataDir, refuseUnfinishedRestore } from '../sqlite/data-dir.ts'
import { SqliteHandle } from '../sqlite/handle.ts'
import { clearMoved, describeMoved, type Moved, readMoved, writeMoved } from '../sqlite/moved.ts'
import { continueNumbers, copyTable } from './copy.ts'
import { tablesToMove } from './tables.ts'
import {
  checkReferences,
  connectTarget,
  migrateTarget,
  moveOf,
  noteMove,
  takeEmpty,
  takeRules,
  wasCommitted,
} from './target.ts'

type Settings = KeySettings & Pick<Config, 'databaseUrl'>
type Tell = (line: string) => void

interface MovedRows {
  name: string
  rows: number
  digest: string
}

/** What was moved. */
export interface MoveReport {
  /** Host, port and name of the database. */
  to: string
  rows: number
  seconds: number
  /** Empty if an earlier run had moved everything. */
  tables: MovedRows[]
}

/** A command of the operator may be writing. */
const lockWaitMs = 60_000

/**
 * Moves the embedded database of a stopped server into an empty PostgreSQL database. One transaction copies and compares
 * all rows, so that the target has all of them or none.
 */
export async function move(
  config: Settings,
  url: string,
  { now, tell }: { now: number; tell: Tell },
): Promise<MoveReport> {
  const { dataDir } = config
  if (config.databaseUrl !== undefined)
    throw new OperatorError('DATABASE_URL is set: this command moves the embedded database of DATA_DIR.')
  const path = join(dataDir, databaseFile)
  if (!existsSync(path)) throw new OperatorError(`There is no database in ${dataDir}. Set DATA_DIR.`)
  const began = performance.now()
  const release = lockDataDir(dataDir)
  let source: SqliteHandle | undefined
  let target: pg.Client | undefined
  try {
    refuseUnfinishedRestore(dataDir)
    await checkSource(config)
    target = await connectTarget(url)
    source = new SqliteHandle(path, { readOnly: false })
    lock(source.database)
    await migrateTarget(url, target, now)
    const to = `${target.host}:${target.port}/${target.database}`
    const tables = (await endEarlier(dataDir, target, to))
      ? []
      : await moveAll(source.database, target, tell, (id) =>
          commit({ dataDir, url, target: target as pg.Client }, { id, to }),
        )
    await checkReferences(url)
    const rows = tables.reduce((sum, one) => sum + one.rows, 0)
    return { to, rows, seconds: (performance.now() - began) / 1000, tables }
  } catch (error) {
    throw explained(error)
  } finally {
    source?.close()
    release()
    await target?.end().catch(() => {})
  }
}

/** The server itself upgrades an embedded database, because it copies it before. */
async function checkSource(config: Settings): Promise<void> {
  const database = openDatabase({ url: undefined, dataDir: config.dataDir })
  try {
    const { missing } = await readSchema(database, migrations)
    if (missing.length > 0)
      throw new OperatorError(
        'The embedded database is from an earlier version: start this version on it once, then repeat.',
      )
    if ((await readKeyMeta(database)).unfinished)
      throw new OperatorError(
        'A rotation of the secret key is unfinished: finish it with keyward keys rotate, then repeat.',
      )
    await openSeal(database, config)
  } finally {
    await database.close()
  }
}

/** Keeps every other process from writing, also a command of the operator, until the database is closed. */
function lock(source: DatabaseSync): void {
  try {
    source.exec(`pragma busy_timeout = ${lockWaitMs}; begin immediate`)
  } catch (error) {
    if (!isSqliteBusy(error)) throw error
    throw new OperatorError('Another process keeps the embedded database locked: end it, then repeat.')
  }
}

/** Whether an earlier run, which did not report it, has moved everything. */
async function endEarlier(dataDir: string, target: pg.Client, to: string): Promise<boolean> {
  const earlier = readMoved(dataDir)
  if (!earlier) return false
  if (earlier.to !== to)
    throw new OperatorError(
      earlier.done
        ? `This installation was moved to ${earlier.to} already. To move its old data again, delete moved.json in ${dataDir}.`
        : describeMoved(dataDir, earlier),
    )
  const isDone = (await moveOf(target)) === earlier.id
  if (isDone) writeMoved(dataDir, { ...earlier, done: true })
  else clearMoved(dataDir)
  return isDone
}

/** Copies and compares all rows in one transaction, which `commit` ends. */
async function moveAll(
  source: DatabaseSync,
  target: pg.Client,
  tell: Tell,
  commit: (id: string) => Promise<void>,
): Promise<MovedRows[]> {
  const tables = await tablesToMove(source, target)
  await target.query('begin')
  await takeEmpty(target, tables)
  const putBack = await takeRules(target)
  checkParents(source)
  const moved: MovedRows[] = []
  for (const table of tables) {
    const { name } = table
    const digest = await copyTable(source, target, table)
    await continueNumbers(source, target, table)
    moved.push({ name, rows: digest.rows, digest: String(digest) })
    if (digest.rows > 0) tell(`Copied and compared ${name}: ${digest.rows} rows`)
  }
  await putBack()
  tell(`Compared all rows of ${tables.length} tables`)
  const id = randomBytes(16).toString('hex')
  await noteMove(target, id)
  await commit(id)
  return moved
}

/** Throws if a row refers to none: PostgreSQL checks this only after everything was moved. */
function checkParents(source: DatabaseSync): void {
  const found = source.prepare('pragma foreign_key_check').get()
  if (found)
    throw new OperatorError(
      `A row of ${found.table} in the embedded database belongs to a row of ${found.parent} that does not exist. Nothing was moved.`,
    )
}

interface Places {
  dataDir: string
  url: string
  target: pg.Client
}

/** From before the commit on, `moved.json` keeps servers from the embedded database. */
async function commit({ dataDir, url, target }: Places, { id, to }: Omit<Moved, 'done'>): Promise<void> {
  writeMoved(dataDir, { id, to, done: false })
  try {
    await target.query('commit')
  } catch (error) {
    const isThere = await wasCommitted(url, id)
    // While the outcome is unknown, the file stays.
    if (isThere === undefined)
      throw new OperatorError(
        `${to} does not say whether it has everything. No server starts until it does: repeat the command.`,
      )
    if (!isThere) {
      clearMoved(dataDir)
      throw error
    }
  }
  writeMoved(dataDir, { id, to, done: true })
}

/** Reports what PostgreSQL or the network refuses in one line, without the address that contains a password. */
function explained(error: unknown): unknown {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const isNetwork = /^E[A-Z]{3,}$/.test(code) || /^(Connection terminated|timeout e|Client )/.test(message)
  if (!(error instanceof pg.DatabaseError) && !isNetwork) return error
  return new OperatorError(`PostgreSQL: ${message || code}. Correct this, then repeat the command.`)
}
