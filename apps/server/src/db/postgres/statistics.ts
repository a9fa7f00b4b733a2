// ADR 26: housekeeping computes missing statistics.
import { sql } from 'kysely'
import type { Db } from '../tables.ts'

const smallBytes = 1_000_000
const fewChanges = 10_000

/**
 * Computes the statistics of tables that have none, or have at least doubled since they were computed, and returns
 * their names. Autovacuum does this earlier, but it may be late or switched off, and lists are slow until then.
 */
export async function analyzeTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c left join pg_stat_user_tables s on s.relid = c.oid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and pg_has_role(c.relowner, 'usage')
      and ((c.reltuples < 0 and pg_relation_size(c.oid) >= ${smallBytes})
        or s.n_mod_since_analyze >= greatest(${fewChanges}, c.reltuples))
    order by c.relname`.execute(db)
  // A table that another node is analyzing is skipped.
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.id(name)}`.execute(db)
  return rows.map(({ name }) => name)
}
