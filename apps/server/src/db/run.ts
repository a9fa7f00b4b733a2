import type { CompiledQuery } from 'kysely'
import type { EngineConnection } from './engine.ts'
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

/** Runs a statement and returns its rows. */
export async function run<Row>(db: Db, statement: CompiledQuery<Row>): Promise<Row[]> {
  const { rows } = await (connections.get(db)?.executeQuery<Row>(statement) ?? db.executeQuery(statement))
  return rows
}

type RowsOf<Statements extends readonly CompiledQuery[]> = {
  -readonly [At in keyof Statements]: Statements[At] extends CompiledQuery<infer Row> ? Row[] : never
}

/** Runs statements one after the other, on PostgreSQL in one round trip; returns the rows of each. */
export async function runTogether<const Statements extends readonly CompiledQuery[]>(
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
