import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { day } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { type Db, prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { MailRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { LostKey, LostKeyReport } from '../description.ts'
import type { Mail } from './mail.service.ts'

const expiresAfterMs = 3 * day

/** Whom a mail is about: it is deleted with each of them. */
export interface MailOwners {
  /** The vendor account that it is about; null for none. Vendors take turns. */
  ownerId: string | null
  accountId?: string | null
  resellerId?: string | null
  customerId?: string | null
}

export interface QueuedMail extends Mail, MailOwners {
  /** It is not sent from then on: before its link ends, and after three days at the latest. */
  expiresAt?: number
  /** The id of what it is about, with which `withdrawMails` finds it. */
  about?: string
  /** Mails to buyers, and what customers are told, take turns among themselves, beside all others. */
  takesTurnsWith?: 'buyers' | 'customers'
  /** It is not sent before. */
  dueAt?: number
}

/** Queues a mail in the transaction that causes it; it is sent after the commit, also if this process dies. */
export async function queueMail(
  { seal }: Pick<Ctx, 'seal'>,
  write: WriteTransaction,
  queued: QueuedMail,
): Promise<void> {
  const { ownerId, accountId = null, resellerId = null, customerId = null, ...others } = queued
  const { expiresAt, about, takesTurnsWith, dueAt = write.now, ...mail } = others
  const { tx } = write
  const id = about === undefined ? newId('mai') : `${prefixOf(about)}${newId('mai')}`
  const vendor = ownerId ?? accountId ?? resellerId ?? 'server'
  const row = {
    ...{ id, owner_id: ownerId, account_id: accountId, reseller_id: resellerId, customer_id: customerId },
    lane: takesTurnsWith ? `${takesTurnsWith} ${vendor}` : mail.isSecret ? `${vendor} link` : vendor,
    ...{ state: 'queued' as const, sealed: sealMail(seal, id, mail), due_at: dueAt, created_at: dueAt },
    expires_at: Math.min(expiresAt ?? Number.POSITIVE_INFINITY, dueAt + expiresAfterMs),
  }
  await prepared.insert(tx, 'mails', [row]).later()
  write.queues.add('mails')
}

/** Deletes the mails about something that still wait, in the transaction that ends it. */
export async function withdrawMails({ tx }: WriteTransaction, about: string): Promise<void> {
  const prefix = prefixOf(about)
  await tx
    .deleteFrom('mails')
    .where('id', '>=', prefix)
    .where('id', '<', `${prefix}~`)
    .where('due_at', 'is not', null)
    .execute()
}

/** The id of what a mail is about; undefined for a mail about nothing that has one. */
export const subjectOf = (mailId: string): string | undefined =>
  mailId.includes('.') ? mailId.slice(0, mailId.indexOf('.')) : undefined

const prefixOf = (about: string): string => `${about}.`

export const mailContext = (id: string): string => `mails.sealed:${id}`

const sealMail = (seal: Ctx['seal'], id: string, mail: Mail): string =>
  seal.seal(JSON.stringify(mail), mailContext(id))

export const openMail = (seal: Ctx['seal'], id: string, sealed: string): Mail =>
  JSON.parse(seal.open(sealed, mailContext(id)))

// Mails of all vendors, which any node sends, so these functions take no scope.

export const findDue = prepared((db, values: { now: number }) =>
  db.selectFrom('mails').select('id').where('due_at', '<=', values.now).limit(1),
)

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

/** Stores the outcome of an attempt, unless the mail was claimed again since; returns whether it was stored. */
export async function store(
  tx: Tx,
  { id, attempts }: Pick<MailRow, 'id' | 'attempts'>,
  outcome: Outcome,
): Promise<boolean> {
  const stored = await tx
    .updateTable('mails')
    .set(outcome)
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('due_at', 'is not', null)
    .returning('id')
    .executeTakeFirst()
  return stored !== undefined
}

export async function remove(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('mails').where('id', '=', id).where('due_at', 'is not', null).execute()
}

/** What waits, but for what is not due before its day, and what has failed since `since`. */
export async function countMails(
  db: Db,
  { now, since }: { now: number; since: number },
): Promise<{ waiting: number; oldest: number | null; failing: number; failed: number; expired: number }> {
  const waiting = await db
    .selectFrom('mails')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .select((eb) => eb.fn.min('created_at').as('oldest'))
    .select((eb) => eb.fn.count<number>('last_error').as('failing'))
    .where('due_at', 'is not', null)
    .where('created_at', '<=', now)
    .executeTakeFirstOrThrow()
  const ended = await db
    .selectFrom('mails')
    .select(['state'])
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('kept_until', '>', since)
    .where('state', '<>', 'sent')
    .groupBy('state')
    .execute()
  const count = (state: MailRow['state']) => Number(ended.find((row) => row.state === state)?.n ?? 0)
  return {
    waiting: Number(waiting.waiting),
    oldest: waiting.oldest,
    failing: Number(waiting.failing),
    failed: count('failed'),
    expired: count('expired'),
  }
}

/** When the mail that waits longest was due for the first time. */
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

/** Ends up to `count` mails that have expired, erases their content, and returns their ids. */
export async function expire(
  tx: Tx,
  { now, keptUntil, count }: { now: number; keptUntil: number; count: number },
): Promise<string[]> {
  const some = tx
    .selectFrom('mails')
    .select('id')
    .where('due_at', 'is not', null)
    .where('expires_at', '<=', now)
    .limit(count)
  const expired = await tx
    .updateTable('mails')
    .set({ state: 'expired', sealed: null, due_at: null, kept_until: keptUntil })
    .where('id', 'in', some)
    .where('due_at', 'is not', null)
    .returning('id')
    .execute()
  return expired.map(({ id }) => id)
}

/** Gives up the mails that a lost secret key sealed. */
export async function loseKey({ tx, now }: LostKey): Promise<Pick<LostKeyReport, 'mails'>> {
  const failed = await tx
    .updateTable('mails')
    .set({ state: 'failed', sealed: null, due_at: null, last_error: 'secret key lost' })
    .set({ kept_until: now + limits.mailDays * day })
    .where('sealed', 'is not', null)
    .returning('id')
    .execute()
  return { mails: failed.length }
}
