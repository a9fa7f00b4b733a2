// ADR 2: the two connections.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'

const statementsKept = 500

/** Referenced here because a garbage-collected connection is closed. */
const leftOpen = new Set<SqliteHandle>()

export interface SqliteResult {
  rows: unknown[]
  /** How many rows a statement without rows changed. */
  changes: number
}

/** Makes the object of a row from its values; null for a statement that returns no rows. */
type Shape = { columns: number; toObject: (values: SQLOutputValue[]) => object } | null

const changesSchema = /^\s*(alter|create|drop)\b/i

/**
 * The objects of `node:sqlite` are slow: copying one with thirty columns takes 5 µs, and one of these 0.1 µs. Making one
 * by a literal takes an eighth of filling it name by name. The names come from the statements of this server.
 */
function toShape(columns: readonly { name: string }[]): Shape {
  if (columns.length === 0) return null
  const cells = columns.map(({ name }, at) => `${JSON.stringify(name)}: values[${at}]`)
  const toObject = new Function('values', `return { ${cells.join(', ')} }`)
  return { columns: columns.length, toObject: toObject as (values: SQLOutputValue[]) => object }
}

/** A `node:sqlite` database that keeps its prepared statements. */
export class SqliteHandle {
  readonly database: DatabaseSync
  /** How many transactions of this connection were committed. */
  commits = 0
  readonly #statements = new Map<string, StatementSync>()
  readonly #shapes = new WeakMap<StatementSync, Shape>()

  constructor(path: string, options: { readOnly: boolean }) {
    this.database = new DatabaseSync(path, { readOnly: options.readOnly, timeout: 5000 })
    this.database.exec('pragma foreign_keys = on; pragma cache_size = -65536; pragma temp_store = memory')
    if (!options.readOnly) {
      this.database.exec('pragma journal_mode = wal; pragma journal_size_limit = 67108864')
    }
    // SQLite's own lower() knows no letters beyond ASCII.
    this.database.function('lower_unicode', { deterministic: true }, (text) =>
      typeof text === 'string' ? text.toLowerCase() : null,
    )
    // Set this last: changing the journal mode can reset it. `CommitGroups` lowers it and syncs the log itself.
    this.database.exec('pragma synchronous = full')
    // Transactions wait for the lock without blocking the server's thread.
    if (!options.readOnly) this.database.exec('pragma busy_timeout = 1')
  }

  prepare(text: string): StatementSync {
    let statement = this.#statements.get(text)
    if (statement) {
      this.#statements.delete(text)
    } else {
      statement = this.database.prepare(text)
      // A deletion from a search leaves a last rowid beyond 2^53: as a number, each statement without rows would throw.
      if (statement.columns().length === 0) statement.setReadBigInts(true)
      const [oldest = ''] = this.#statements.keys()
      if (this.#statements.size >= statementsKept) this.#statements.delete(oldest)
    }
    this.#statements.set(text, statement)
    return statement
  }

  /** From then on, reading with this text through `prepare` returns arrays, too. */
  run(text: string, parameters: readonly SQLInputValue[]): SqliteResult {
    const statement = this.prepare(text)
    const shape = this.#shapeOf(statement)
    if (!shape) return { rows: [], changes: Number(statement.run(...parameters).changes) }
    const rows = statement.all(...parameters) as unknown as SQLOutputValue[][]
    // A migration may have added columns since.
    const isOld = rows.length > 0 && rows[0]?.length !== shape.columns
    const { toObject } = (isOld && toShape(statement.columns())) || shape
    // As an argument of `map` itself, it would get the place as well.
    return { rows: rows.map((values) => toObject(values)), changes: 0 }
  }

  /** Remembered, because asking SQLite for the columns takes three times as long as reading a row. */
  #shapeOf(statement: StatementSync): Shape {
    const known = this.#shapes.get(statement)
    if (known !== undefined) return known
    const shape = toShape(statement.columns())
    if (shape) statement.setReturnArrays(true)
    else if (changesSchema.test(statement.sourceSQL)) this.#statements.clear()
    this.#shapes.set(statement, shape)
    return shape
  }

  /**
   * Prepares a frequent read of one row. Its properties are getters over an array, because the objects of `node:sqlite`
   * make a read of many columns half as long again.
   */
  prepareRow(text: string): (...values: string[]) => object | undefined {
    const statement = this.database.prepare(text)
    statement.setReturnArrays(true)
    class Row {
      readonly values: unknown[]
      constructor(values: unknown[]) {
        this.values = values
      }
    }
    for (const [at, { name }] of statement.columns().entries()) {
      Object.defineProperty(Row.prototype, name, {
        get(this: Row) {
          return this.values[at]
        },
      })
    }
    return (...values) => {
      const row = statement.get(...values) as unknown[] | undefined
      return row && new Row(row)
    }
  }

  /**
   * Keeps the connection open until the process ends, also after `close`. The last one that closes copies the log into
   * the database and deletes it.
   */
  leaveOpen(): void {
    leftOpen.add(this)
  }

  close(): void {
    if (leftOpen.has(this)) return
    this.#statements.clear()
    if (this.database.isOpen) this.database.close()
  }
}

/**
 * The connection that sees committed data only. All reads of a turn of the event loop share one snapshot, because locking
 * the log for each takes half of its time.
 */
export class SqliteReader extends SqliteHandle {
  readonly #writer: SqliteHandle
  readonly #begin = this.database.prepare('begin')
  readonly #version = super.prepareRow('pragma data_version') as () => { data_version: number }
  readonly #end = this.database.prepare('commit')
  #isOpen = false
  /** Whether the end of the turn ends the snapshot. */
  #isEnding = false
  #ownCommits = 0
  #count = 0

  constructor(path: string, writer: SqliteHandle) {
    super(path, { readOnly: true })
    this.#writer = writer
  }

  /**
   * Opens the snapshot, which contains every commit of this process, and those of others by the next turn. Returns a
   * number that changes with every commit.
   */
  countCommits(): number {
    const { commits } = this.#writer
    if (this.#isOpen && commits === this.#ownCommits) return this.#count
    this.#closeSnapshot()
    this.#endSoon()
    this.#begin.run()
    this.#count = this.#version().data_version
    this.#ownCommits = commits
    // Only now: without a version, the next read begins anew.
    this.#isOpen = true
    return this.#count
  }

  override run(text: string, parameters: readonly SQLInputValue[]): SqliteResult {
    this.countCommits()
    return super.run(text, parameters)
  }

  override prepareRow(text: string): (...values: string[]) => object | undefined {
    // An older snapshot lacks the tables of a migration that has just ended.
    this.countCommits()
    const read = super.prepareRow(text)
    return (...values) => {
      this.countCommits()
      return read(...values)
    }
  }

  #endSoon(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    setImmediate(() => {
      this.#isEnding = false
      this.#closeSnapshot()
    })
  }

  #closeSnapshot(): void {
    this.#isOpen = false
    // The database was closed meanwhile, or has ended the transaction after an error.
    if (this.database.isOpen && this.database.isTransaction) this.#end.run()
  }
}
