import type { CompiledQuery, DatabaseConnection } from 'kysely'
import type { Db } from './tables.ts'

const connections = new WeakMap<Db, DatabaseConnection>()

/** The connection of an open transaction, or of reads on the embedded database; undefined where Kysely assigns one. */
export const ownConnectionOf = (db: Db): DatabaseConnection | undefined => connections.get(db)

/** Lets queries run on this connection directly: Kysely takes about ten turns of promises for each of them. */
export const setOwnConnection = (db: Db, connection: DatabaseConnection): void => {
  connections.set(db, connection)
}

/** Kysely refuses queries of a transaction that has ended; its connection belongs to others then. */
export const forgetOwnConnection = (db: Db): void => {
  connections.delete(db)
}

/** Runs a query and returns its rows. */
export async function runQuery<Row>(db: Db, query: CompiledQuery<Row>): Promise<Row[]> {
  const { rows } = await (connections.get(db)?.executeQuery<Row>(query) ?? db.executeQuery(query))
  return rows
}
