import { sql } from 'kysely'
import type { Ctx } from '../../service/ctx.ts'

/** On PostgreSQL on a connection of the checks, because slow statements may occupy all others. */
export function readinessProbe({ db, database }: Ctx): () => Promise<unknown> {
  return database.dialect === 'postgres'
    ? database.pool.reader('ready', 'select 1 as n')
    : () => sql`select 1`.execute(db)
}
