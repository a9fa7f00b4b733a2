import { canonicalLocale, customerPageAddress, type MailKind, type MailValues } from '@keyward/contract'
import { sql } from 'kysely'
import { dayNumber } from '../../core/clock.ts'
import type { Db, WriteTransaction } from '../../db/index.ts'
import type { AppRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type MailOwners, queueMail } from '../mail/mail.queue.ts'
import { findFace } from '../profiles/profiles.access.ts'
import * as repo from './app-mails.repo.ts'
import { pickMail, type Rendered, tagsOf, toBuyerMail, toServerMail } from './app-mails.rules.ts'

interface BuyerMail extends MailOwners {
  ownerId: string
  appId: string
  /** The id of what it is about. */
  about: string
  to: string
  /** As a shop or a program names the buyer's language; one that is unknown means the default. */
  locale: string | null
  values: MailValues
  /** What buyers get with their keys, unless another one is named. */
  kind?: MailKind
  unsubscribe?: Rendered['unsubscribe']
  /** Until when it is worth sending. */
  expiresAt?: number
  /** Whether the app's own text, sender and address for answers are used. */
  hasOwnWords: boolean
}

/** The address of an app's page for customers; null while it has none, or the server does not know its own address. */
export const pageOf = (
  { publicUrl }: Ctx['config'],
  app: Pick<AppRow, 'app_id' | 'customer_page'>,
): string | null => (app.customer_page === 1 && publicUrl ? customerPageAddress(publicUrl, app.app_id) : null)

/** More places than a day can have. */
const placesOfDay = 10_000_000_000

/**
 * Takes one of an owner's first `max` mails to buyers of this day (UTC); false once they are used up. Mails that tell
 * customers of something leave half of them to purchases.
 */
export async function takeMailOfDay(
  { tx, now }: WriteTransaction,
  ownerId: string,
  max: number,
  isOfCustomer = false,
): Promise<boolean> {
  if (max <= 0) return false
  const first = dayNumber(now) * placesOfDay
  const next = (column: 'place' | 'customer_place') =>
    sql<number>`case when ${sql.ref(`buyer_mails.${column}`)} >= ${sql.lit(first)}
      then ${sql.ref(`buyer_mails.${column}`)} + 1 else ${sql.lit(first + 1)} end`
  const taken = await tx
    .insertInto('buyer_mails')
    .values({ owner_id: ownerId, place: first + 1, customer_place: isOfCustomer ? first + 1 : 0 })
    .onConflict((conflict) => {
      const updated = conflict
        .column('owner_id')
        .doUpdateSet({
          place: next('place'),
          ...(isOfCustomer && { customer_place: next('customer_place') }),
        })
        .where('buyer_mails.place', '<', first + max)
      return isOfCustomer
        ? updated.where('buyer_mails.customer_place', '<', first + Math.ceil(max / 2))
        : updated
    })
    .returning('place')
    .executeTakeFirst()
  return taken !== undefined
}

/** Queues the receipt of a buyer who has renewed somebody's license: without its key, and without a word about who has it. */
export async function queueReceipt(
  { seal }: Pick<Ctx, 'seal'>,
  write: WriteTransaction,
  { to, locale, app, order, ...owners }: Receipt,
): Promise<void> {
  const tags = tagsOf((locale && canonicalLocale(locale)) || null)
  const values = { keys: [], app, name: null, order, page: null }
  const mail = toServerMail({ to, values }, 'receipt', tags)
  await queueMail({ seal }, write, { ...mail, ...owners, takesTurnsWith: 'buyers' })
}

type Receipt = Pick<BuyerMail, 'ownerId' | 'customerId' | 'about' | 'to' | 'locale'> & {
  app: string
  order: string
}

/** Queues the mail of an app to a buyer, in its language. */
export async function queueBuyerMail(
  { seal }: Pick<Ctx, 'seal'>,
  write: WriteTransaction,
  { appId, to, locale, values, hasOwnWords, kind = 'purchase', unsubscribe, ...others }: BuyerMail,
): Promise<void> {
  const tags = tagsOf((locale && canonicalLocale(locale)) || null)
  const rendered = { to, values, unsubscribe }
  const mail = hasOwnWords
    ? toBuyerMail({
        ...{ ...rendered, face: await findFace(write.tx, appId) },
        mail: pickMail(await repo.listMails(write.tx, appId, kind, tags), kind, tags),
      })
    : toServerMail(rendered, kind, tags)
  await queueMail({ seal }, write, {
    ...{ ...mail, ...others },
    takesTurnsWith: kind === 'purchase' ? 'buyers' : 'customers',
  })
}

/** The next vendor, by its id, with keys that wait for their mail: of orders or of licenses. */
export async function findWaitingOwner(
  db: Db,
  table: 'shop_orders' | 'license_mails',
  after: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ owner_id: string }>`select owner_id from ${sql.table(table)}
    where mail = 'waiting' and owner_id > ${after} order by owner_id limit 1`.execute(db)
  return rows[0]?.owner_id
}
