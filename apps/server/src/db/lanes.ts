import { sql } from 'kysely'
import type { Db, Tables } from './tables.ts'

/** A queue, and the column whose rows of one value are a lane. Its index has this column and `due_at`. */
const queues = { mails: 'lane', reset_requests: 'network', shop_events: 'lane' } as const satisfies {
  [Table in keyof Tables]?: keyof Tables[Table]
}

/**
 * Lanes with due rows after a place, found one after the other by the index, however many rows each has. `next` is the place
 * that the next page begins after.
 */
export async function listLanes(
  db: Db,
  queue: keyof typeof queues,
  { after, now, count }: { after: string; now: number; count: number },
): Promise<{ lanes: string[]; next: string | undefined }> {
  const [table, column] = [sql.table(queue), sql.ref(`q.${queues[queue]}`)]
  const first = (place: ReturnType<typeof sql>) => sql`
    select min(${column}) from ${table} q where ${column} > ${place} and q.due_at is not null`
  const { rows } = await sql<{ lane: string; is_due: number | boolean }>`
    with recursive waiting (lane, place) as (
      select (${first(sql`${after}`)}), 1
      union all select (${first(sql`waiting.lane`)}), place + 1 from waiting
        where waiting.lane is not null and place < ${sql.lit(count)}
    )
    select lane, exists (select 1 from ${table} q where ${column} = waiting.lane and q.due_at <= ${now}) as is_due
    from waiting where lane is not null order by lane`.execute(db)
  const next = rows.length < count ? undefined : rows.at(-1)?.lane
  return { lanes: rows.filter((row) => Boolean(row.is_due)).map(({ lane }) => lane), next }
}
