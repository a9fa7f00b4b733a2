import { CompiledQuery, type Updateable } from 'kysely'
import { needsLocks } from './open.ts'
import { runQuery } from './own-connections.ts'
import type { Db, Tables } from './tables.ts'

/** Sets columns, those that are not undefined, in the rows with these values, and adds no time for building a query. */
export async function updateRows<Table extends keyof Tables & string>(
  db: Db,
  table: Table,
  change: Updateable<Tables[Table]>,
  where: { id: string; owner_id?: string },
): Promise<void> {
  const isPostgres = needsLocks(db)
  const parameters: unknown[] = []
  const equal = ([column, value]: [string, unknown]): string => {
    parameters.push(value)
    return `"${column}" = ${isPostgres ? `$${parameters.length}` : '?'}`
  }
  const set = Object.entries(change).filter(([, value]) => value !== undefined)
  const text = `update "${table}" set ${set.map(equal).join(', ')} where ${Object.entries(where).map(equal).join(' and ')}`
  await runQuery(db, CompiledQuery.raw(text, parameters))
}
