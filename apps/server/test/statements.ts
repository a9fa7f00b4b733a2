import type pg from 'pg'
import type { OpenDatabase } from '../src/db/open.ts'
import { Batch, type BatchStatement } from '../src/db/postgres/batch.ts'

interface Sent {
  text: string
  name?: string | undefined
  /** The parameters; recorded for single statements on PostgreSQL. */
  values?: unknown[] | undefined
}

/** The statements that the work sends to the database, in order; prepared ones with their names. */
export const statementsOf = async (database: OpenDatabase, work: () => Promise<unknown>): Promise<Sent[]> =>
  (await roundTripsOf(database, work)).flat()

/** Groups the statements by round trips to PostgreSQL; on SQLite each statement is one. */
export async function roundTripsOf(database: OpenDatabase, work: () => Promise<unknown>): Promise<Sent[][]> {
  const sent: Sent[][] = []
  if (database.dialect === 'sqlite') {
    const { writer } = database.handles
    const prepare = writer.prepare.bind(writer)
    writer.prepare = (text) => {
      sent.push([{ text }])
      return prepare(text)
    }
    await work().finally(() => {
      writer.prepare = prepare
    })
    return sent
  }
  const { pool } = database
  const run = pool.run.bind(pool)
  pool.run = ((client: pg.ClientBase, query: string | BatchStatement | Batch, values?: unknown[]) => {
    if (query instanceof Batch) sent.push(query.statements.map(({ text, name }) => ({ text, name })))
    else if (typeof query === 'string') sent.push([{ text: query, values }])
    else sent.push([{ text: query.text, name: query.name, values }])
    return run(client, query as string, values)
  }) as typeof pool.run
  await work().finally(() => {
    pool.run = run
  })
  return sent
}
