import { type Compilable, CompiledQuery, type Insertable, sql, type Updateable } from 'kysely'
import type { OwnerScope } from '../core/actor.ts'
import { type EngineConnection, type Syntax, syntaxOf } from './engine.ts'
import type { Db, Tables, Tx } from './tables.ts'

const connections = new WeakMap<Db, EngineConnection>()

/** Lets queries run on this connection directly: Kysely takes about ten turns of promises for each of them. */
export const setOwnConnection = (db: Db, connection: EngineConnection): void => {
  connections.set(db, connection)
}

/** Kysely refuses queries of a transaction that has ended; its connection belongs to others then. */
export const forgetOwnConnection = (db: Db): void => {
  connections.delete(db)
}

/** The connection of a transaction, or one for reads of the embedded database. */
export const connectionOf = async (db: Db): Promise<EngineConnection> =>
  connections.get(db) ??
  db.getExecutor().provideConnection(async (connection) => connection as EngineConnection)

/** The rows of a statement. */
export async function rowsOf<Row>(db: Db, statement: CompiledQuery<Row>): Promise<Row[]> {
  const { rows } = await (connections.get(db)?.executeQuery<Row>(statement) ?? db.executeQuery(statement))
  return rows
}

type RowsOf<Statements extends readonly CompiledQuery[]> = {
  -readonly [At in keyof Statements]: Statements[At] extends CompiledQuery<infer Row> ? Row[] : never
}

/** Runs statements one after the other, on PostgreSQL in one round trip; returns the rows of each. */
export async function runTogether<const Statements extends readonly CompiledQuery[]>(
  db: Db,
  statements: Statements,
): Promise<RowsOf<Statements>> {
  const results = await (await connectionOf(db)).executeTogether(statements)
  return results.map(({ rows }) => rows) as RowsOf<Statements>
}

/**
 * Runs statements whose outcome nothing else in the transaction needs. PostgreSQL receives them together with the next
 * one, which also throws their errors.
 */
export async function runLater(db: Db, statements: readonly CompiledQuery[]): Promise<void> {
  await (await connectionOf(db)).executeLater(statements)
}

/** A statement whose text Kysely does not build for each call. A transaction runs it now, with its next one, or at its end. */
export class Statement<Row = unknown> implements CompiledQuery<Row> {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly query: CompiledQuery['query']
  readonly queryId: CompiledQuery['queryId']
  readonly #db: Db

  constructor(db: Db, compiled: CompiledQuery, parameters = compiled.parameters) {
    this.sql = compiled.sql
    this.parameters = parameters
    this.query = compiled.query
    this.queryId = compiled.queryId
    this.#db = db
  }

  async execute(): Promise<Row[]> {
    const [rows] = await runTogether(this.#db, [this])
    return rows as Row[]
  }

  /** For one whose outcome nothing else in the transaction needs. */
  later(): Promise<void> {
    return runLater(this.#db, [this])
  }
}

/** Takes the place of a value while a query is built. */
class Parameter {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }

  [Symbol.toPrimitive](): never {
    throw new Error(`the text of a prepared query cannot depend on ${this.name}`)
  }
}

/** A query whose text is always the same. */
class PreparedQuery<Values extends object, Row> {
  readonly #build: (db: Db, values: Values) => Compilable<Row>
  readonly #compiled = new Map<Syntax, CompiledQuery<Row>>()

  constructor(build: (db: Db, values: Values) => Compilable<Row>) {
    this.#build = build
  }

  /** The statement with these values. */
  with(db: Db, values: Values): Statement<Row> {
    const statement = this.#statementOf(db)
    const all = values as Record<string, unknown>
    const parameters = statement.parameters.map((one) => (one instanceof Parameter ? all[one.name] : one))
    return new Statement(db, statement, parameters)
  }

  /** Returns the rows. */
  async run(db: Db, values: Values): Promise<Row[]> {
    return rowsOf(db, this.with(db, values))
  }

  async first(db: Db, values: Values): Promise<Row | undefined> {
    return (await this.run(db, values))[0]
  }

  #statementOf(db: Db): CompiledQuery<Row> {
    const syntax = syntaxOf(db)
    const known = this.#compiled.get(syntax)
    if (known) return known
    const parameters = new Proxy({}, { get: (_, name) => new Parameter(String(name)) })
    const compiled = this.#build(db, parameters as Values).compile()
    this.#compiled.set(syntax, compiled)
    return compiled
  }
}

/** One insert of rows with the columns that the first one defines; throws if a later one defines others. */
function insert<Table extends keyof Tables & string>(
  db: Db,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
  /** The columns of a unique index: rows whose values are taken are left out. */
  ...unlessTaken: (keyof Tables[Table] & string)[]
): Statement {
  const [first, second] = rows
  if (!first) throw new Error('there is no row to insert')
  const columns = Object.keys(first).filter((column) => cellOf(first, column) !== undefined)
  refuseOthers(rows, columns)
  const syntax = syntaxOf(db)
  const names = columns.map(quoted).join(', ')
  const into = `insert into ${quoted(table)} (${names})`
  const orNothing =
    unlessTaken.length === 0 ? '' : ` on conflict (${unlessTaken.map(quoted).join(', ')}) do nothing`
  if (second && syntax.rowsOf) {
    const select = sql`select ${sql.raw(names)} from ${syntax.rowsOf(table, rows)}${sql.raw(orNothing)}`
    return new Statement(db, sql`${sql.raw(`${into}\n    `)}${select}`.compile(db))
  }
  const cells = columns.map((_, at) => syntax.parameter(at + 1)).join(', ')
  const values = Array<string>(rows.length).fill(`(${cells})`).join(', ')
  const parameters = rows.flatMap((row) => columns.map((column) => cellOf(row, column)))
  return new Statement(db, CompiledQuery.raw(`${into} values ${values}${orNothing}`, parameters))
}

/** An update of a row, within a scope if one is named, that sets those columns which are not undefined. */
function update<Table extends keyof Tables & string>(
  db: Db,
  table: Table,
  change: Updateable<Tables[Table]>,
  { id, scope }: { id: string; scope?: OwnerScope },
): Statement {
  const syntax = syntaxOf(db)
  const parameters: unknown[] = []
  const set = Object.entries(change).filter(([, value]) => value !== undefined)
  const changes = set.map((one) => equal(syntax, one, parameters)).join(', ')
  const where = scope === undefined ? { id } : { id, owner_id: scope.ownerId }
  const conditions = Object.entries(where).map((one) => equal(syntax, one, parameters))
  if (scope?.apps) conditions.push(amongApps(syntax, scope.apps, parameters))
  const text = `update ${quoted(table)} set ${changes} where ${conditions.join(' and ')}`
  return new Statement(db, CompiledQuery.raw(text, parameters))
}

function equal(syntax: Syntax, [column, value]: [string, unknown], parameters: unknown[]): string {
  parameters.push(value)
  return `${quoted(column)} = ${syntax.parameter(parameters.length)}`
}

function amongApps(syntax: Syntax, apps: ReadonlySet<string>, parameters: unknown[]): string {
  const cells = Array.from(apps, (app) => syntax.parameter(parameters.push(app)))
  return `coalesce("app_id", '') in (${cells.join(', ') || 'null'})`
}

function refuseOthers(rows: readonly object[], columns: readonly string[]): void {
  const known = new Set(columns)
  for (const row of rows) {
    for (const column in row) {
      if (!known.has(column) && cellOf(row, column) !== undefined)
        throw new Error(`only later rows have the column ${column}`)
    }
  }
}

/** Names of columns come from the code, never from input. */
const quoted = (name: string): string => `"${name}"`

const cellOf = (row: object, column: string): unknown => (row as Record<string, unknown>)[column]

/** Statements whose text Kysely does not build for each call, which takes several times as long as running them. */
export const prepared = Object.assign(
  /** A query that is built once. `build` puts the values into the query and does nothing else with them. */
  <Values extends object, Row>(build: (db: Db, values: Values) => Compilable<Row>) =>
    new PreparedQuery(build),
  { insert, update, together: runTogether },
)

/** Locks rows until the transaction ends. Where transactions run one after the other, no row needs a lock. */
export const lock = Object.assign(
  /** Locks the row that a query returns. Others can still insert rows that refer to it, which FOR UPDATE would prevent. */
  <Query extends { forNoKeyUpdate(): Query }>(tx: Db, query: Query): Query =>
    syntaxOf(tx).locksRows ? query.forNoKeyUpdate() : query,
  {
    /** Keeps the row that a query returns from changing. */
    shared: <Query extends { forShare(): Query }>(tx: Db, query: Query): Query =>
      syntaxOf(tx).locksRows ? query.forShare() : query,

    /** Locks the rows that a query returns, in the order of their ids: callers would deadlock otherwise. */
    all: <Query extends { orderBy(column: 'id'): { forUpdate(): Query } }>(tx: Db, query: Query): Query =>
      syntaxOf(tx).locksRows ? query.orderBy('id').forUpdate() : query,

    /** Locks rows together with the next statement. */
    ahead: async (tx: Tx, lockOf: () => Compilable | CompiledQuery): Promise<void> => {
      if (!syntaxOf(tx).locksRows) return
      const query = lockOf()
      await runLater(tx, ['compile' in query ? query.compile() : query])
    },
  },
)
