import { sql } from 'kysely'
import { type Db, query, type Tx } from '../../db/index.ts'
import type { MailRow } from '../../db/tables.ts'

// Mails of all vendors, which any node sends, so these functions take no scope.

export const findDue = query((db, values: { now: number }) =>
  db.selectFrom('mails').select('id').where('due_at', '<=', values.now).limit(1),
)

/** Lanes with due mails, found one after the other by the index, however many mails each has. */
export async function listLanes(
  db: Db,
  { after, now, count }: { after: string; now: number; count: number },
): Promise<{ lanes: string[]; next: string | undefined }> {
  const first = (place: ReturnType<typeof sql>) => sql`
    select min(m.lane) from mails m where m.lane > ${place} and m.due_at is not null`
  const { rows } = await sql<{ lane: string; is_due: number | boolean }>`
    with recursive waiting (lane, place) as (
      select (${first(sql`${after}`)}), 1
      union all select (${first(sql`waiting.lane`)}), place + 1 from waiting
        where waiting.lane is not null and place < ${sql.lit(count)}
    )
    select lane, exists (select 1 from mails m where m.lane = waiting.lane and m.due_at <= ${now}) as is_due
    from waiting where lane is not null order by lane`.execute(db)
  const next = rows.length < count ? undefined : rows.at(-1)?.lane
  return { lanes: rows.filter((row) => Boolean(row.is_due)).map(({ lane }) => lane), next }
}

/** Claims the oldest due mails of a lane until `until`. Another node may have claimed some of them meanwhile. */
export function claim(
  tx: Tx,
  lane: string,
  { now, until, count }: { now: number; until: number; count: number },
): Promise<MailRow[]> {
  const oldest = tx
    .selectFrom('mails')
    .select('id')
    .where('lane', '=', lane)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(count)
  return tx
    .updateTable('mails')
    .set({ due_at: until, attempts: sql`attempts + 1` })
    .where('id', 'in', oldest)
    .where('due_at', '<=', now)
    .returningAll()
    .execute()
}

type Outcome = Partial<Pick<MailRow, 'state' | 'sealed' | 'due_at' | 'last_error' | 'kept_until'>>

/** Stores the outcome of an attempt, unless the mail was claimed again since. */
export async function store(
  tx: Tx,
  { id, attempts }: Pick<MailRow, 'id' | 'attempts'>,
  outcome: Outcome,
): Promise<void> {
  await tx
    .updateTable('mails')
    .set(outcome)
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('due_at', 'is not', null)
    .execute()
}

/** When the mail that waits longest was queued. */
export async function findOldest(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom('mails')
    .select('created_at')
    .where('due_at', 'is not', null)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}
