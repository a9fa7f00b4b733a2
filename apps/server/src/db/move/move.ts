import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../../config.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { readSchema } from '../migrate.ts'
import { migrations } from '../migrations/index.ts'
import { openDatabase } from '../open.ts'
import { openSeal } from '../secret-key.ts'
import { databaseFile, lockDataDir, refuseUnfinishedRestore } from '../sqlite/data-dir.ts'
import { SqliteHandle } from '../sqlite/handle.ts'
import { clearMoved, readMoved, writeMoved } from '../sqlite/moved.ts'
import { continueNumbers, copyTable, verifyTable } from './copy.ts'
import type { TableDigest } from './digest.ts'
import { type MovedTable, type MovePlan, tablesToMove } from './tables.ts'
import { connectTarget, migrateTarget, moveOf, noteMove, takeEmpty, withoutTriggers } from './target.ts'

type Settings = Pick<Config, 'dataDir' | 'databaseUrl' | 'secretKey'>
type Tell = (line: string) => void

/** What was moved. */
export interface MoveReport {
  /** Host, port and name of the database. */
  to: string
  rows: number
  seconds: number
  /** Empty if an earlier run had moved everything. */
  tables: { name: string; rows: number; digest: string }[]
}

/**
 * Moves the embedded database of a stopped server into an empty PostgreSQL database. One transaction copies and compares
 * all rows, so that the target has all of them or none (ADR 92).
 */
export async function move(
  config: Settings,
  url: string,
  options: { now: number; tell: Tell },
): Promise<MoveReport> {
  const { dataDir } = config
  if (config.databaseUrl !== undefined)
    throw new OperatorError('DATABASE_URL is set: this command moves the embedded database of DATA_DIR.')
  const path = join(dataDir, databaseFile)
  if (!existsSync(path)) throw new OperatorError(`There is no database in ${dataDir}. Set DATA_DIR.`)
  const release = lockDataDir(dataDir)
  try {
    refuseUnfinishedRestore(dataDir)
    await checkSource(config)
    return await moveLocked(config, url, path, options)
  } catch (error) {
    throw explained(error)
  } finally {
    release()
  }
}

/** The server itself upgrades an embedded database, because it copies it before. */
async function checkSource(config: Settings): Promise<void> {
  const database = openDatabase({ url: undefined, dataDir: config.dataDir })
  try {
    const { missing } = await readSchema(database, migrations)
    if (missing.length > 0)
      throw new OperatorError(
        'The embedded database is from an earlier version: start and stop this version on it once, then repeat.',
      )
    await openSeal(database, config as Config)
  } finally {
    await database.close()
  }
}

async function moveLocked(
  { dataDir }: Settings,
  url: string,
  path: string,
  { now, tell }: { now: number; tell: Tell },
): Promise<MoveReport> {
  const before = readMoved(dataDir)
  const began = performance.now()
  const target = await connectTarget(url)
  const to = nameOf(target)
  const id = before?.id ?? randomBytes(16).toString('hex')
  let isKept = before !== undefined
  let source: SqliteHandle | undefined
  try {
    if (before?.done && before.to !== to)
      throw new OperatorError(
        `This installation was moved to ${before.to} already. To move its old data again, delete ${before.path}.`,
      )
    source = new SqliteHandle(path, { readOnly: false })
    // No other process can write now, not even a command of the operator.
    source.database.exec('pragma busy_timeout = 5000; begin immediate')
    await migrateTarget(url, target, now)
    const plan = await tablesToMove(source, target)
    const isDone = before !== undefined && (await moveOf(target)) === id
    const copied: MoveReport['tables'] = []
    if (!isDone) {
      await target.query('begin')
      await takeEmpty(target, plan.tables)
      // From here on a server refuses to start on the old data until the move is repeated or given up.
      writeMoved(dataDir, { id, to, done: false })
      copied.push(...(await copyAll(source, target, plan, tell)))
      await noteMove(target, id)
      isKept = true
      await target.query('commit')
    }
    writeMoved(dataDir, { id, to, done: true })
    if (!isDone) await target.query('analyze')
    const rows = copied.reduce((sum, one) => sum + one.rows, 0)
    return { to, rows, seconds: (performance.now() - began) / 1000, tables: copied }
  } catch (error) {
    // Only a failed commit leaves open which database has the data.
    if (!isKept) clearMoved(dataDir)
    throw error
  } finally {
    source?.close()
    await target.end().catch(() => {})
  }
}

async function copyAll(
  source: SqliteHandle,
  target: pg.Client,
  { tables, late }: MovePlan,
  tell: Tell,
): Promise<MoveReport['tables']> {
  const digests = new Map<MovedTable, TableDigest>()
  await withoutTriggers(target, late, async () => {
    for (const table of tables) {
      const digest = await copyTable(source, target, table)
      digests.set(table, digest)
      await continueNumbers(source, target, table)
      if (digest.rows > 0) tell(`Copied ${table.name}: ${digest.rows} rows`)
    }
  })
  const copied = []
  for (const [table, digest] of digests) {
    await verifyTable(target, table, digest)
    copied.push({ name: table.name, rows: digest.rows, digest: String(digest) })
  }
  tell(`Compared all rows of ${copied.length} tables`)
  return copied
}

const nameOf = ({ host, port, database }: pg.Client): string => `${host}:${port}/${database}`

/** Reports what PostgreSQL or the network refuses in one line, without the address that contains a password. */
function explained(error: unknown): unknown {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const isNetwork = /^E[A-Z]{3,}$/.test(code) || /^(Connection terminated|timeout e)/.test(message)
  if (!(error instanceof pg.DatabaseError) && !isNetwork) return error
  return new OperatorError(`PostgreSQL: ${message || code}. Correct this, then repeat the command.`)
}
