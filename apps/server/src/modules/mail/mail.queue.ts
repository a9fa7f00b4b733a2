import { day } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { insert, send, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Mail } from './mail.service.ts'

const expiresAfterMs = 3 * day

/** Whom a mail is about: it is deleted with each of them. */
export interface MailOwners {
  /** The vendor account that it is about; null for none. Vendors take turns. */
  ownerId: string | null
  accountId?: string | null
  resellerId?: string | null
}

export interface QueuedMail extends Mail, MailOwners {
  /** It is not sent from then on: before its link ends, and after three days at the latest. */
  expiresAt?: number
}

/** Queues a mail in the transaction that causes it; it is sent after the commit, also if this process dies. */
export async function queueMail(
  { seal }: Pick<Ctx, 'seal'>,
  write: WriteTransaction,
  { ownerId, accountId = null, resellerId = null, expiresAt, ...mail }: QueuedMail,
): Promise<void> {
  const { tx, now } = write
  const id = newId('mai')
  const vendor = ownerId ?? accountId ?? resellerId ?? 'server'
  const lane = mail.isSecret ? `${vendor} link` : vendor
  const row = {
    ...{ id, owner_id: ownerId, account_id: accountId, reseller_id: resellerId, lane },
    ...{ state: 'queued' as const, sealed: sealMail(seal, id, mail), due_at: now, created_at: now },
    expires_at: Math.min(expiresAt ?? Number.POSITIVE_INFINITY, now + expiresAfterMs),
  }
  await send(tx, [insert(tx, 'mails', [row])])
  write.queues.add('mails')
}

const contextOf = (id: string): string => `mails.sealed:${id}`

const sealMail = (seal: Ctx['seal'], id: string, mail: Mail): string =>
  seal.seal(JSON.stringify(mail), contextOf(id))

export const openMail = (seal: Ctx['seal'], id: string, sealed: string): Mail =>
  JSON.parse(seal.open(sealed, contextOf(id)))
