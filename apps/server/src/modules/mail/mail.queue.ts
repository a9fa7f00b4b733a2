import { day } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { prepared, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
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
