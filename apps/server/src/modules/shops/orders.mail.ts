import { isEmailAddress, limits, type OrderMailWait } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { day, hour } from '../../core/clock.ts'
import { problem, rateLimited } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { LicenseRow, ShopOrderRow } from '../../db/tables.ts'
import { type Allowance, type Attempts, countIn } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { pageOf, queueBuyerMail, queueReceipt, takeMailOfDay } from '../app-mails/buyer-mails.ts'
import type { MailSubject } from '../description.ts'
import { openMail, withdrawMails } from '../mail/mail.queue.ts'
import { type MailTerms, readMailTerms } from '../owners/owners.service.ts'
import * as unitRepo from './order-units.repo.ts'
import { findOrder } from './orders.list.ts'
import * as repo from './orders.repo.ts'

export type MailCtx = Pick<Ctx, 'config' | 'seal' | 'clock'>

export type OrderMail = Pick<ShopOrderRow, 'mail' | 'mail_waits_for'>
const none: OrderMail = { mail: 'none', mail_waits_for: null }

/**
 * Queues the mail with the keys of an order that its customer has, in place of one that still waits, or lets it wait for its
 * turn, and returns its state. The caller has locked the order.
 */
export async function queueOrderMail(
  ctx: MailCtx,
  write: WriteTransaction,
  order: ShopOrderRow,
): Promise<OrderMail> {
  const { id, owner_id: ownerId, app_id: appId, customer_id: customerId } = order
  const { tx } = write
  if (customerId === null || order.test === 1) return none
  const found = await unitRepo.listKeysOf(tx, id, customerId)
  const [first] = found
  if (!first) return none
  const terms = await readMailTerms(ctx, tx, { ownerId })
  const waitsFor = await takeTurn(write, order, terms)
  if (waitsFor !== null) return { mail: 'waiting', mail_waits_for: waitsFor }
  if (order.mail !== 'none') await withdrawMails(write, id)
  const { email: to, app } = first
  const page = pageOf(ctx.config, first)
  const keys = found.map(({ key }) => key)
  await queueBuyerMail(ctx, write, {
    ...{ ownerId, appId, customerId, about: id, to, locale: order.locale },
    values: { keys, app, name: order.name, order: order.number, page },
    hasOwnWords: terms.hasOwnWords,
  })
  return { mail: 'queued', mail_waits_for: null }
}

/** Tells who paid for a license that it is renewed. Whoever has it under another address is told by a mail of its own. */
export async function tellOfRenewal(
  ctx: MailCtx,
  write: WriteTransaction,
  order: ShopOrderRow,
  license: Pick<LicenseRow, 'id' | 'customer_id'>,
): Promise<void> {
  const { id: about, owner_id: ownerId, customer_id: customerId, email: to, locale, number } = order
  if (order.test === 1 || to === null || !isEmailAddress(to)) return
  const { holder, app } = await repo.findNamesOf(write.tx, license.id)
  if (holder === order.email_normalized) return
  const terms = await readMailTerms(ctx, write.tx, { ownerId })
  if ((await takeTurn(write, order, terms)) !== null) return
  await queueReceipt(ctx, write, { ownerId, customerId, about, to, locale, app, order: number })
}

/** Mails of one shop for orders that cost nothing. */
const freeOfHour: Allowance = { name: 'free order mails', max: limits.freeOrderMailsPerHour, windowMs: hour }

/**
 * Takes the next mail of the day; returns what to wait for if there is none. Orders that cost nothing, of which anyone can make many,
 * leave half of the day's mails to paid ones.
 */
async function takeTurn(
  write: WriteTransaction,
  { owner_id: ownerId, shop_id: shopId, amount }: ShopOrderRow,
  { isConfirmed, perDay }: MailTerms,
): Promise<OrderMailWait | null> {
  if (!isConfirmed) return 'confirmation'
  const isFree = amount === 0
  const counted = isFree ? await countIn(write.tx, write.now, freeOfHour, 1, shopId) : undefined
  if (counted && counted.count > freeOfHour.max) return 'free_orders'
  const max = isFree ? Math.floor(perDay / 2) : perDay
  return (await takeMailOfDay(write, ownerId, max)) ? null : 'day'
}

/** Withdraws the mail of an order that still waits, and returns its state. */
export async function withdrawOrderMail(
  write: WriteTransaction,
  { id, mail }: ShopOrderRow,
): Promise<Partial<OrderMail>> {
  if (mail !== 'queued' && mail !== 'waiting') return {}
  await withdrawMails(write, id)
  return none
}

/** How the mail queue checks and updates orders. */
export const orderMails: MailSubject = {
  /** Also whether it has no key of another customer: one that waits for the next day outlives an app that is deleted. */
  async isCurrent({ db, seal }, id, mailId) {
    const moved = await unitRepo.listMovedKeys(db, id)
    if (!moved || moved.length === 0) return moved !== undefined
    const row = await db.selectFrom('mails').select('sealed').where('id', '=', mailId).executeTakeFirst()
    const { text } = openMail(seal, mailId, row?.sealed ?? '')
    return !moved.some((key) => text.includes(key))
  },
  async onEnded({ tx, queues }, id, end) {
    if (end !== 'dropped') return repo.endMail(tx, id, end === 'sent' ? 'sent' : 'failed')
    // One that was dropped for a key that another customer has now is sent again, without it.
    await repo.letMailWait(tx, id)
    queues.add('waiting mails')
  },
}

/** Anybody who may manage licenses could flood a buyer. */
const resends: Allowance = { name: 'order mails', max: limits.orderMailsPerDay, windowMs: day }

/** Mails the keys of an order again. */
export async function mailAgain(
  { ctx, attempts }: { ctx: Ctx; attempts: Pick<Attempts, 'addIn'> },
  actor: VendorActor,
  id: string,
): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const { tx, now } = write
    if (!(await findOrder(tx, actor, id))) throw problem('not_found')
    const order = await repo.lockOrder(tx, id)
    if (order.mail === 'queued' || order.mail === 'waiting') throw problem('order_mail_queued')
    const { count, window_ends } = await attempts.addIn(tx, resends, 1, id)
    if (count > resends.max) throw rateLimited(window_ends - now)
    const change = await queueOrderMail(ctx, write, order)
    if (change.mail === 'none') throw problem('order_without_mail')
    await repo.updateOrder(tx, id, change)
    write.record('shop_order.mail_resent', id, { order: order.number }, order.app_id)
  })
}
