import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../../config.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { readSchema } from '../migrate.ts'
import { migrations } from '../migrations/index.ts'
import { openDatabase } from '../open.ts'
import { type KeySettings, openSeal, readKeyMeta } from '../secret-key.ts'
import { databaseFile, refuseUnfinishedRestore, tryLock } from '../sqlite/data-dir.ts'
import { clearMoved, describeMoved, type Moved, readMoved, refuseMoved, writeMoved } from '../sqlite/moved.ts'
import { compareTable, continueNumbers, copyTable, type Digests, updateTable } from './copy.ts'
import { ServerNearby } from './server-nearby.ts'
import { Source, statesMost } from './source.ts'
import { type MovedTable, tablesToMove } from './tables.ts'
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

/** What was moved. */
export interface MoveReport {
  /** Host, port and name of the database. */
  to: string
  rows: number
  seconds: number
  /** How long a server could not write; null if none was running. */
  pauseSeconds: number | null
  /** Empty if an earlier run had moved everything. */
  tables: { name: string; rows: number; digest: string }[]
}

/** A last round of so few rows is not worth another one. */
const fewRows = 1000
/** PostgreSQL that stops answering must not keep the server from writing for ever. */
const pauseMostMs = 60_000

/**
 * Moves the embedded database into an empty PostgreSQL database, while a server serves it or not. One transaction copies
 * and compares all rows, so that the target has all of them or none (ADR 92).
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
  const releaseDir = tryLock(dataDir, 'server.lock', 1000)
  let source: Source | undefined
  let target: pg.Client | undefined
  try {
    refuseUnfinishedRestore(dataDir)
    await checkSource(config)
    target = await connectTarget(url)
    source = new Source(path)
    await migrateTarget(url, target, now)
    const run = new Move(dataDir, url, source, target, tell, releaseDir === undefined)
    return await run.run()
  } catch (error) {
    throw explained(error)
  } finally {
    source?.close()
    releaseDir?.()
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

class Move {
  readonly #dataDir: string
  readonly #url: string
  readonly #source: Source
  readonly #target: pg.Client
  readonly #tell: Tell
  readonly #server: ServerNearby | undefined
  readonly #to: string
  readonly #began = performance.now()
  readonly #digests = new Map<MovedTable, Digests>()

  constructor(
    dataDir: string,
    url: string,
    source: Source,
    target: pg.Client,
    tell: Tell,
    isServed: boolean,
  ) {
    this.#dataDir = dataDir
    this.#url = url
    this.#source = source
    this.#target = target
    this.#tell = tell
    this.#server = isServed ? new ServerNearby(dataDir) : undefined
    this.#to = `${target.host}:${target.port}/${target.database}`
  }

  async run(): Promise<MoveReport> {
    const earlier = readMoved(this.#dataDir)
    if (earlier && (await this.#endEarlier(earlier))) {
      await checkReferences(this.#url)
      return this.#report(null)
    }
    await this.#server?.check()
    if (!this.#server) await this.#source.lock()
    const tables = await tablesToMove(this.#source.handle, this.#target)
    await this.#target.query('begin')
    await takeEmpty(this.#target, tables)
    const putBack = await takeRules(this.#target)
    let state = this.#source.keepState()
    this.#source.checkReferences(state)
    await this.#copy(tables, state)
    let lastMs = 0
    if (this.#server) [state, lastMs] = await this.#catchUp(state)
    const pauseMs = await this.#end(state, lastMs, putBack)
    await checkReferences(this.#url)
    return this.#report(this.#server ? pauseMs / 1000 : null)
  }

  /** Whether an earlier run, which did not report it, has moved everything. */
  async #endEarlier(earlier: Moved): Promise<boolean> {
    if (earlier.to !== this.#to)
      throw new OperatorError(
        earlier.done
          ? `This installation was moved to ${earlier.to} already. To move its old data again, delete moved.json in ${this.#dataDir}.`
          : describeMoved(this.#dataDir, earlier),
      )
    // A free lock means that the earlier run has ended.
    await this.#source.lock()
    try {
      const isDone = (await moveOf(this.#target)) === earlier.id
      if (isDone) writeMoved(this.#dataDir, { ...earlier, done: true })
      else clearMoved(this.#dataDir)
      return isDone
    } finally {
      this.#source.unlock()
    }
  }

  async #copy(tables: readonly MovedTable[], state: string): Promise<void> {
    for (const table of tables) {
      const digests = await copyTable(this.#source, this.#target, table, state)
      await compareTable(this.#target, table, digests)
      this.#digests.set(table, digests)
      if (digests.sent.rows > 0) this.#tell(`Copied ${table.name}: ${digests.sent.rows} rows`)
    }
    // Statistics, for the changes that follow and for the first calls.
    await this.#target.query(`analyze ${tables.map(({ name }) => `"${name}"`).join(', ')}`)
    this.#tell(`Compared all rows of ${tables.length} tables`)
  }

  /** Copies what was written meanwhile, until that takes no less time; the last round says how long the pause takes. */
  async #catchUp(first: string): Promise<[state: string, lastMs: number]> {
    let state = first
    let before = Number.POSITIVE_INFINITY
    for (let round = 1; ; round += 1) {
      const began = performance.now()
      const next = this.#source.keepState()
      const changed = await this.#update([state, next])
      state = next
      const lastMs = performance.now() - began
      this.#tell(`Copied ${changed} rows that were written meanwhile`)
      // One state is kept for the end.
      if (changed <= fewRows || changed > before / 2 || round === statesMost - 2) return [state, lastMs]
      before = changed
    }
  }

  async #update(states: readonly [string, string]): Promise<number> {
    let changed = 0
    for (const [table, digests] of this.#digests) {
      const ofTable = await updateTable(this.#source, this.#target, table, digests, states)
      if (ofTable > 0) await compareTable(this.#target, table, digests)
      changed += ofTable
    }
    return changed
  }

  /** Commits under the write lock; returns the length of the pause in milliseconds. */
  async #end(before: string, lastMs: number, putBack: () => Promise<void>): Promise<number> {
    const id = randomBytes(16).toString('hex')
    const moved = { id, to: this.#to }
    if (this.#server) {
      const seconds = Math.ceil((lastMs + 1000) / 1000)
      this.#tell(`Writes pause now, for about ${seconds} s`)
      await this.#source.lock()
    }
    const began = performance.now()
    const cut = setTimeout(() => void this.#target.end().catch(() => {}), Math.max(pauseMostMs, 3 * lastMs))
    let isMarked = false
    try {
      // Another move may have been quicker.
      refuseMoved(this.#dataDir)
      const last = this.#server ? this.#source.keepState() : before
      if (this.#server) await this.#update([before, last])
      for (const table of this.#digests.keys()) await continueNumbers(this.#source, this.#target, table, last)
      await putBack()
      await noteMove(this.#target, id)
      await this.#server?.check()
      isMarked = true
      writeMoved(this.#dataDir, { ...moved, done: false })
      await this.#server?.untilAway()
      await this.#commit(id)
      isMarked = false
      writeMoved(this.#dataDir, { ...moved, done: true })
    } catch (error) {
      // While the outcome is unknown, `moved.json` stays, so that no server writes.
      if (isMarked && !(error instanceof UnknownOutcomeError)) clearMoved(this.#dataDir)
      throw error
    } finally {
      clearTimeout(cut)
      this.#server?.release()
      this.#source.unlock()
    }
    return performance.now() - began
  }

  async #commit(id: string): Promise<void> {
    try {
      await this.#target.query('commit')
    } catch (error) {
      const isThere = await wasCommitted(this.#url, id)
      if (isThere === false) throw error
      if (isThere === undefined)
        throw new UnknownOutcomeError(
          `${this.#to} does not say whether it has everything. Nobody can write until it does: repeat the command.`,
        )
    }
  }

  #report(pauseSeconds: number | null): MoveReport {
    const tables = [...this.#digests].map(([{ name }, { sent }]) => ({
      name,
      rows: sent.rows,
      digest: String(sent),
    }))
    return {
      to: this.#to,
      rows: tables.reduce((sum, one) => sum + one.rows, 0),
      seconds: (performance.now() - this.#began) / 1000,
      pauseSeconds,
      tables,
    }
  }
}

class UnknownOutcomeError extends OperatorError {}

/** Reports what PostgreSQL or the network refuses in one line, without the address that contains a password. */
function explained(error: unknown): unknown {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const isNetwork = /^E[A-Z]{3,}$/.test(code) || /^(Connection terminated|timeout e|Client )/.test(message)
  if (!(error instanceof pg.DatabaseError) && !isNetwork) return error
  return new OperatorError(`PostgreSQL: ${message || code}. Correct this, then repeat the command.`)
}
