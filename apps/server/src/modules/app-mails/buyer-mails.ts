import { canonicalLocale, customerPageAddress, limits, type MailValues } from '@keyward/contract'
import { day } from '../../core/clock.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { AppRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type MailOwners, queueMail } from '../mail/mail.queue.ts'
import * as repo from './app-mails.repo.ts'
import { pickMail, tagsOf, toBuyerMail } from './app-mails.rules.ts'

interface BuyerMail extends MailOwners {
  ownerId: string
  appId: string
  /** The id of what it is about. */
  about: string
  to: string
  /** As a shop or a program names the buyer's language; one that is unknown means the default. */
  locale: string | null
  values: MailValues
}

/** The address of an app's page for customers; null while it has none, or the server does not know its own address. */
export const pageOf = ({ publicUrl }: Ctx['config'], app: AppRow): string | null =>
  app.customer_page === 1 && publicUrl ? customerPageAddress(publicUrl, app.app_id) : null

/** Queues the mail of an app to a buyer, in its language. It is due once the owner's mails of that day are fewer than the limit. */
export async function queueBuyerMail(
  { seal }: Pick<Ctx, 'seal'>,
  write: WriteTransaction,
  { appId, to, locale, values, ...owners }: BuyerMail,
): Promise<void> {
  const { tx, now } = write
  const tags = tagsOf((locale && canonicalLocale(locale)) || null)
  const mail = pickMail(await repo.listMails(tx, appId, tags), tags)
  const today = Math.floor(now / day) * limits.buyerMailsPerDay
  const place = await repo.takePlace(tx, owners.ownerId, today)
  const dueAt = Math.max(now, Math.floor(place / limits.buyerMailsPerDay) * day)
  await queueMail({ seal }, write, {
    ...toBuyerMail({ to, mail, values }),
    ...owners,
    dueAt,
    isToBuyer: true,
  })
}
