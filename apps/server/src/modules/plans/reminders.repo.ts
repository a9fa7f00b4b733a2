import { sql } from 'kysely'
import type { Db, Tx } from '../../db/index.ts'
import type { AccountRow } from '../../db/tables.ts'

// Housekeeping across all owners, so these functions take no scope.

/** A reminder of one end date, sent `days` before it. */
export interface Reminder {
  ownerId: string
  premiumUntil: number
  days: number
}

/** A vendor account, and the person who owns it. */
export type Ending = Pick<AccountRow, 'id' | 'name' | 'email'> & { account_id: string; premium_until: number }

/** Owners whose premium ends in (`from`, `to`] and whose reminder is not queued yet. */
export const listEnding = (
  db: Db,
  range: { from: number; to: number; days: number; count: number },
): Promise<Ending[]> =>
  db
    .selectFrom('owners')
    .innerJoin('accounts', 'accounts.id', 'owners.account_id')
    .select(['owners.id', 'accounts.id as account_id', 'accounts.name', 'accounts.email', 'premium_until'])
    .$narrowType<{ premium_until: number }>()
    .where('premium_until', '>', range.from)
    .where('premium_until', '<=', range.to)
    .where(({ not, exists, selectFrom }) => {
      const handled = selectFrom('plan_reminders')
        .select('owner_id')
        .whereRef('plan_reminders.owner_id', '=', 'owners.id')
        .whereRef('plan_reminders.premium_until', '=', 'owners.premium_until')
        .where('days', '=', range.days)
        .where('sent_at', 'is not', null)
      return not(exists(handled))
    })
    .orderBy('premium_until')
    .orderBy('owners.id')
    .limit(range.count)
    .execute()

/**
 * Marks a reminder as queued; exactly one concurrent caller succeeds, and only while premium still ends on that date. Earlier
 * versions claimed reminders before they sent them, which may have left a row.
 */
export async function mark(tx: Tx, { ownerId, premiumUntil, days }: Reminder, now: number): Promise<boolean> {
  const { rows } = await sql`
    insert into plan_reminders (owner_id, premium_until, days, claimed_at, sent_at)
      select id, premium_until, ${days}, ${now}, ${now} from owners
        where id = ${ownerId} and premium_until = ${premiumUntil} and premium_until > ${now}
      on conflict (owner_id, premium_until, days) do update set sent_at = excluded.sent_at
        where plan_reminders.sent_at is null
      returning owner_id`.execute(tx)
  return rows.length > 0
}

export async function deleteEndedBefore(db: Db, premiumUntil: number): Promise<void> {
  await db.deleteFrom('plan_reminders').where('premium_until', '<', premiumUntil).execute()
}
