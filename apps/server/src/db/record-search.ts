import { type RawBuilder, sql } from 'kysely'
import { syntaxOf } from './engine.ts'
import { putMeta } from './meta.ts'
import type { Db, Tx } from './tables.ts'

// ADR 60: the embedded database indexes the texts of records later, so that no write waits for it.

const markName = 'record_search'

/** The searched text of a record; PostgreSQL's index has the same expression. */
export const recordText = (row: string): RawBuilder<string> =>
  sql`coalesce(${sql.ref(`${row}.address`)}, '') || ' ' || coalesce(${sql.ref(`${row}.detail`)}, '')`

/** The number of the last record in the full-text index; undefined if the index is always complete. */
export async function lastIndexedRecord(db: Db): Promise<number | undefined> {
  if (syntaxOf(db).searchIndex === 'trigrams') return undefined
  const row = await db.selectFrom('meta').select('value').where('name', '=', markName).executeTakeFirst()
  return Number(row?.value ?? 0)
}

/** Adds the texts of the next `count` records to the full-text index, and returns how many. */
export async function indexRecords(tx: Tx, count: number): Promise<number> {
  const last = await lastIndexedRecord(tx)
  if (last === undefined) return 0
  const next = tx.selectFrom('audit').select('seq').where('seq', '>', last).orderBy('seq').limit(count)
  const { found, until } = await tx
    .selectFrom(next.as('next'))
    .select((eb) => [eb.fn.countAll<number>().as('found'), eb.fn.max('seq').as('until')])
    .executeTakeFirstOrThrow()
  if (found === 0) return 0
  await sql`insert into audit_search (rowid, body) select t.seq, ${recordText('t')} from audit t
    where t.seq > ${last} and t.seq <= ${until}`.execute(tx)
  await sql`insert into audit_search (audit_search, rank) values ('merge', 16)`.execute(tx)
  await putMeta(tx, markName, String(until))
  return found
}
