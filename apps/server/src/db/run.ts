import type { Compilable, CompiledQuery } from 'kysely'
import { type EngineConnection, type Syntax, syntaxOf } from './engine.ts'
import type { Db, Tx } from './tables.ts'

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

/** The rows of a statement; services run it by `query` or `run`. */
export async function rowsOf<Row>(db: Db, statement: CompiledQuery<Row>): Promise<Row[]> {
  const { rows } = await (connections.get(db)?.executeQuery<Row>(statement) ?? db.executeQuery(statement))
  return rows
}

type RowsOf<Statements extends readonly CompiledQuery[]> = {
  -readonly [At in keyof Statements]: Statements[At] extends CompiledQuery<infer Row> ? Row[] : never
}

/** Runs statements one after the other, on PostgreSQL in one round trip; returns the rows of each. */
export async function run<const Statements extends readonly CompiledQuery[]>(
  tx: Tx,
  statements: Statements,
): Promise<RowsOf<Statements>> {
  const results = await (await connectionOf(tx)).executeTogether(statements)
  return results.map(({ rows }) => rows) as RowsOf<Statements>
}

/**
 * Runs statements whose outcome nothing else in the transaction needs. PostgreSQL receives them together with the next
 * one, which also throws their errors.
 */
export async function send(tx: Tx, statements: readonly CompiledQuery[]): Promise<void> {
  await (await connectionOf(tx)).executeLater(statements)
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
  with(db: Db, values: Values): CompiledQuery<Row> {
    const statement = this.#statementOf(db)
    const all = values as Record<string, unknown>
    const parameters = statement.parameters.map((one) => (one instanceof Parameter ? all[one.name] : one))
    return { ...statement, parameters }
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

/**
 * A query that is built once, and not for each call, which takes several times as long as running it. `build` puts the
 * values into the query and does nothing else with them.
 */
export const query = <Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): PreparedQuery<Values, Row> => new PreparedQuery(build)

// Where transactions run one after the other, no row needs a lock.

/**
 * Locks the row that a query returns until the transaction ends. Others can still insert rows that refer to it, which FOR
 * UPDATE would prevent.
 */
export const lock = <Query extends { forNoKeyUpdate(): Query }>(tx: Db, query: Query): Query =>
  syntaxOf(tx).locksRows ? query.forNoKeyUpdate() : query

/** Keeps the row that a query returns from changing until the transaction ends. */
export const lockShared = <Query extends { forShare(): Query }>(tx: Db, query: Query): Query =>
  syntaxOf(tx).locksRows ? query.forShare() : query

/** Locks the rows that a query returns, in the order of their ids: callers would deadlock otherwise. */
export const lockAll = <Query extends { orderBy(column: 'id'): { forUpdate(): Query } }>(
  tx: Db,
  query: Query,
): Query => (syntaxOf(tx).locksRows ? query.orderBy('id').forUpdate() : query)

/** Locks rows before the next statement runs, if rows need locks. */
export async function takeLocks(tx: Tx, lockOf: () => Compilable | CompiledQuery): Promise<void> {
  if (!syntaxOf(tx).locksRows) return
  const query = lockOf()
  await send(tx, ['compile' in query ? query.compile() : query])
}
