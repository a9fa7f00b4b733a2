import { sql } from 'kysely'
import type { OfOwner } from '../../core/actor.ts'
import { type Db, lock, type Tx } from '../../db/index.ts'
import type { NotificationMarkRow, NotificationSettingsRow } from '../../db/tables.ts'
import { columnOf, lookedFor } from './notifications.rules.ts'

/** A person at a vendor account. */
export interface Person extends OfOwner {
  accountId: string
}

export const findSettings = (db: Db, person: Person): Promise<NotificationSettingsRow | undefined> =>
  settingsOf(db, person).executeTakeFirst()

const settingsOf = (db: Db, { accountId, ownerId }: Person) =>
  db
    .selectFrom('notification_settings')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('owner_id', '=', ownerId)

/** Reads the settings, made with the defaults if there are none, and locks them until the transaction ends. */
export async function lockSettings(tx: Tx, person: Person): Promise<NotificationSettingsRow> {
  await tx
    .insertInto('notification_settings')
    .values({ account_id: person.accountId, owner_id: person.ownerId })
    .onConflict((conflict) => conflict.columns(['account_id', 'owner_id']).doNothing())
    .execute()
  return lock(tx, settingsOf(tx, person)).executeTakeFirstOrThrow()
}

export async function updateSettings(
  tx: Tx,
  { accountId, ownerId }: Person,
  change: Partial<Omit<NotificationSettingsRow, 'account_id' | 'owner_id'>>,
): Promise<void> {
  await tx
    .updateTable('notification_settings')
    .set(change)
    .where('account_id', '=', accountId)
    .where('owner_id', '=', ownerId)
    .execute()
}

/** Lets the server look at a vendor as soon as it can. */
export async function lookSoon(tx: Tx, { ownerId }: OfOwner, now: number): Promise<void> {
  await tx
    .insertInto('notification_scans')
    .values({ owner_id: ownerId, next_at: now })
    .onConflict((conflict) => conflict.column('owner_id').doUpdateSet({ next_at: now }))
    .execute()
}

// The look is housekeeping across all vendors: these functions take no scope.

export async function listDue(db: Db, now: number, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('notification_scans')
    .select('owner_id')
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .orderBy('owner_id')
    .limit(count)
    .execute()
  return rows.map((row) => row.owner_id)
}

/** Takes a vendor that is due until `nextAt`; exactly one concurrent caller succeeds. */
export async function takeLook(tx: Tx, ownerId: string, now: number, nextAt: number): Promise<boolean> {
  const taken = await tx
    .updateTable('notification_scans')
    .set({ next_at: nextAt })
    .where('owner_id', '=', ownerId)
    .where('next_at', '<=', now)
    .returning('owner_id')
    .executeTakeFirst()
  return taken !== undefined
}

/** Stops scanning a vendor once no one wants any mail that a scan can send. */
export async function endLooks(tx: Tx, ownerId: string): Promise<void> {
  await tx
    .deleteFrom('notification_scans')
    .where('owner_id', '=', ownerId)
    .where(({ not, exists }) => not(exists(wanting(tx, ownerId).select('s.account_id'))))
    .execute()
}

/** The settings of people who want a mail that is looked for about this vendor. */
export const listWanting = (db: Db, ownerId: string): Promise<NotificationSettingsRow[]> =>
  wanting(db, ownerId).selectAll().orderBy('s.account_id').execute()

const wanting = (db: Db, ownerId: string) =>
  db
    .selectFrom('notification_settings as s')
    .where('s.owner_id', '=', ownerId)
    .where(({ or, eb }) => or(lookedFor.map((kind) => eb(`s.${columnOf[kind]}`, '=', 1))))

type MarkedPerson = Person & { kind: string }

const marksOf = (db: Db, { ownerId, accountId, kind }: MarkedPerson) =>
  db
    .selectFrom('notification_marks')
    .where('owner_id', '=', ownerId)
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)

export const listMarks = (db: Db, of: MarkedPerson): Promise<NotificationMarkRow[]> =>
  marksOf(db, of).selectAll().execute()

/**
 * Notes that a mail of this kind is sent now, unless one was sent after `before`: exactly one concurrent caller succeeds, and its
 * transaction queues the mail.
 */
export async function markSent(
  tx: Tx,
  { ownerId, accountId, kind }: MarkedPerson,
  times: { now: number; before: number },
): Promise<boolean> {
  const { rows } = await sql`
    insert into notification_marks (account_id, owner_id, kind, subject, holds, sent_at)
      values (${accountId}, ${ownerId}, ${kind}, '', 0, ${times.now})
      on conflict (owner_id, account_id, kind, subject) do update set sent_at = excluded.sent_at
        where notification_marks.sent_at <= ${times.before}
      returning owner_id`.execute(tx)
  return rows.length > 0
}

/** Marks these subjects as mailed to a person. */
export async function markTold(
  tx: Tx,
  { ownerId, accountId, kind }: MarkedPerson,
  subjects: readonly string[],
  now: number,
): Promise<void> {
  const rows = subjects.map((subject) => ({
    ...{ account_id: accountId, owner_id: ownerId, kind, subject },
    ...{ holds: 1 as const, sent_at: now },
  }))
  await tx
    .insertInto('notification_marks')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'account_id', 'kind', 'subject']).doUpdateSet({ holds: 1, sent_at: now }),
    )
    .execute()
}

/** Notes that what a person was told about these is so no more. */
export async function markGone(tx: Tx, of: MarkedPerson, subjects: readonly string[]): Promise<void> {
  await tx
    .updateTable('notification_marks')
    .set({ holds: 0 })
    .where('owner_id', '=', of.ownerId)
    .where('account_id', '=', of.accountId)
    .where('kind', '=', of.kind)
    .where('subject', 'in', subjects)
    .execute()
}

/** Deletes marks that prevent no mail any more. */
export async function deleteOldMarks(tx: Tx, ownerId: string, before: number): Promise<void> {
  await tx
    .deleteFrom('notification_marks')
    .where('owner_id', '=', ownerId)
    .where('holds', '=', 0)
    .where('sent_at', '<', before)
    .execute()
}
