import { sql } from 'kysely'
import type { Db } from '../../db/index.ts'
import type { AccountRow } from '../../db/tables.ts'

// Housekeeping across all owners, so these functions take no scope.

/** A reminder of one end date, sent `days` before it. */
interface Reminder {
  ownerId: string
  premiumUntil: number
  days: number
}

export interface Claim extends Reminder {
  claimedAt: number
}

/** A vendor account, and the person who owns it. */
export type Ending = Pick<AccountRow, 'id' | 'name' | 'email'> & { premium_until: number }

/** Owners whose premium ends in (`from`, `to`] and whose reminder is neither sent nor claimed since `stale`. */
export const listEnding = (
  db: Db,
  range: { from: number; to: number; days: number; stale: number; count: number },
): Promise<Ending[]> =>
  db
    .selectFrom('owners')
    .innerJoin('accounts', 'accounts.id', 'owners.account_id')
    .select(['owners.id', 'accounts.name', 'accounts.email', 'premium_until'])
    .$narrowType<{ premium_until: number }>()
    .where('premium_until', '>', range.from)
    .where('premium_until', '<=', range.to)
    .where(({ not, exists, selectFrom }) => {
      const handled = selectFrom('plan_reminders')
        .select('owner_id')
        .whereRef('plan_reminders.owner_id', '=', 'owners.id')
        .whereRef('plan_reminders.premium_until', '=', 'owners.premium_until')
        .where('days', '=', range.days)
        .where((or) => or.or([or('sent_at', 'is not', null), or('claimed_at', '>', range.stale)]))
      return not(exists(handled))
    })
    .orderBy('premium_until')
    .orderBy('owners.id')
    .limit(range.count)
    .execute()

/** Claims a reminder; exactly one concurrent caller succeeds, and only while premium still ends on that date. */
export async function claim(db: Db, reminder: Claim, stale: number): Promise<boolean> {
  const { ownerId, premiumUntil, days, claimedAt } = reminder
  const { rows } = await sql`
    insert into plan_reminders (owner_id, premium_until, days, claimed_at)
      select id, premium_until, ${days}, ${claimedAt} from owners
        where id = ${ownerId} and premium_until = ${premiumUntil} and premium_until > ${claimedAt}
      on conflict (owner_id, premium_until, days) do update set claimed_at = excluded.claimed_at
        where plan_reminders.sent_at is null and plan_reminders.claimed_at <= ${stale}
      returning owner_id`.execute(db)
  return rows.length > 0
}

export async function markSent(db: Db, reminder: Claim, now: number): Promise<void> {
  await db
    .updateTable('plan_reminders')
    .set({ sent_at: now })
    .where('owner_id', '=', reminder.ownerId)
    .where('premium_until', '=', reminder.premiumUntil)
    .where('days', '=', reminder.days)
    .execute()
}

/** Releases a claim that is still held, as if it had been made at `claimedAt`. */
export async function release(db: Db, reminder: Claim, claimedAt: number): Promise<void> {
  await db
    .updateTable('plan_reminders')
    .set({ claimed_at: claimedAt })
    .where('owner_id', '=', reminder.ownerId)
    .where('premium_until', '=', reminder.premiumUntil)
    .where('days', '=', reminder.days)
    .where('claimed_at', '=', reminder.claimedAt)
    .where('sent_at', 'is', null)
    .execute()
}

export async function deleteEndedBefore(db: Db, premiumUntil: number): Promise<void> {
  await db.deleteFrom('plan_reminders').where('premium_until', '<', premiumUntil).execute()
}
