import { type License, limits } from '@keyward/contract'
import { sql } from 'kysely'
import { system, type VendorActor } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { problem, rateLimited } from '../../core/problem.ts'
import { lock, prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { LicenseRow, Tables } from '../../db/tables.ts'
import { type Allowance, type Attempts, countIn } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { languageOfMails } from '../app-mails/app-mails.language.ts'
import { pageOf, queueBuyerMail, takeMailOfDay } from '../app-mails/buyer-mails.ts'
import type { MailSubject } from '../description.ts'
import { withdrawMails } from '../mail/mail.queue.ts'
import { readMailTerms } from '../owners/owners.service.ts'
import * as repo from './licenses.repo.ts'
import { toLicense, toReadable } from './licenses.rules.ts'

type MailCtx = Pick<Ctx, 'config' | 'seal' | 'clock'>
type MailState = Pick<Tables['license_mails'], 'mail' | 'mail_waits_for'>

export function refuseMailOff({ config }: Pick<Ctx, 'config'>): void {
  if (config.smtpUrl === undefined)
    throw problem('mail_off', { message: 'This server does not send mail. Give your customer the key.' })
}

export const noCustomer = () =>
  problem('no_address', { message: 'Nobody is named as the customer of this license. Enter an address.' })

type Mailed = Pick<LicenseRow, 'id' | 'key' | 'owner_id' | 'app_id'> & { customer_id: string | null }

/** Queues one mail with the keys of these licenses to their customer, or lets it wait for its turn; returns its state. */
export async function queueKeys(
  ctx: MailCtx,
  write: WriteTransaction,
  licenses: readonly Mailed[],
  batchId = newId('kml'),
): Promise<MailState & { insertion: ReturnType<typeof insertionOf> }> {
  const { tx } = write
  const [{ owner_id: ownerId, app_id: appId, customer_id: customerId }] = licenses as [Mailed]
  if (customerId === null) throw noCustomer()
  const state = await queue()
  return { ...state, insertion: insertionOf(tx, licenses, { customerId, batchId, ...state }) }

  async function queue(): Promise<MailState> {
    const terms = await readMailTerms(ctx, tx, { ownerId })
    if (!terms.isConfirmed) return { mail: 'waiting', mail_waits_for: 'confirmation' }
    if (!(await takeMailOfDay(write, ownerId, terms.perDay)))
      return { mail: 'waiting', mail_waits_for: 'day' }
    const { app, page, email, name } = await readAddress(ctx, tx, { appId, customerId: customerId ?? '' })
    await queueBuyerMail(ctx, write, {
      ...{ ownerId, appId, customerId, about: batchId, to: email, hasOwnWords: terms.hasOwnWords },
      locale: (await localeOf(tx, customerId ?? '')) ?? (await languageOfMails(tx, appId)) ?? null,
      values: { keys: licenses.map(({ key }) => key), app, name, order: null, page },
    })
    return { mail: 'queued', mail_waits_for: null }
  }
}

function insertionOf(
  tx: Tx,
  licenses: readonly Mailed[],
  { customerId, ...state }: MailState & { customerId: string; batchId: string },
) {
  const { batchId: batch_id, ...mail } = state
  return prepared.insert(
    tx,
    'license_mails',
    licenses.map(({ id, owner_id, app_id }) => ({
      ...{ license_id: id, owner_id, app_id, customer_id: customerId, batch_id },
      ...mail,
    })),
  )
}

async function readAddress(
  { config }: MailCtx,
  tx: Tx,
  { appId, customerId }: { appId: string; customerId: string },
) {
  const found = await tx
    .selectFrom('customers as c')
    .innerJoin('apps as a', (join) => join.on('a.id', '=', appId))
    .select(['c.email', 'c.name', 'a.name as app', 'a.app_id', 'a.customer_page'])
    .where('c.id', '=', customerId)
    .executeTakeFirst()
  if (!found) throw noCustomer()
  return { ...found, page: pageOf(config, found) }
}

/** The language in which a customer has bought last. */
async function localeOf(tx: Tx, customerId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('shop_orders')
    .select('locale')
    .where('customer_id', '=', customerId)
    .where('locale', 'is not', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.locale ?? undefined
}

/** Anybody who may manage licenses could flood a customer. */
const resends: Allowance = { name: 'license mails', max: limits.orderMailsPerDay, windowMs: day }

/** Mails the key of a license to its customer, again or for the first time. */
export function mailKey(
  { ctx, attempts }: { ctx: Ctx; attempts: Pick<Attempts, 'addIn'> },
  actor: VendorActor,
  id: string,
): Promise<License> {
  return ctx.tx(actor, async (write) => {
    const { tx, now } = write
    const [license] = await repo.lockLicenses(tx, actor, [id])
    if (!license) throw problem('not_found')
    refuseMailOff(ctx)
    if (license.customer_id === null) throw noCustomer()
    const before = await tx
      .selectFrom('license_mails')
      .select(['customer_id', 'mail'])
      .where('license_id', '=', id)
      .executeTakeFirst()
    const isOnItsWay = before?.mail === 'queued' || before?.mail === 'waiting'
    if (isOnItsWay && before.customer_id === license.customer_id)
      throw problem('order_mail_queued', { message: 'The mail with this key is on its way' })
    const { count, window_ends } = await attempts.addIn(tx, resends, 1, id)
    if (count > resends.max) throw rateLimited(window_ends - now)
    await tx.deleteFrom('license_mails').where('license_id', '=', id).execute()
    const { insertion } = await queueKeys(ctx, write, [license])
    await tx.executeQuery(insertion)
    write.record('license.mailed', id, {}, license.app_id)
    const after = (await repo.findLicense(tx, actor, id)) as repo.LicenseView
    return toReadable(actor, toLicense(ctx, after, now))
  })
}

/** Withdraws the unsent mail with a license's key, which has another customer now, and queues the mail's other keys again. */
export async function queueWithout(write: WriteTransaction, licenseId: string): Promise<void> {
  const { tx } = write
  const [taken] = await tx
    .updateTable('license_mails')
    .set({ mail: 'waiting', mail_waits_for: null })
    .where('batch_id', '=', (eb) =>
      eb.selectFrom('license_mails as m').select('m.batch_id').where('m.license_id', '=', licenseId),
    )
    .where('mail', '=', 'queued')
    .returning('batch_id')
    .execute()
  if (!taken) return
  await withdrawMails(write, taken.batch_id)
  write.queues.add('waiting mails')
}

/** Limits how many mails with new keys one customer gets, because anybody who may generate licenses can send them. */
const ofOne: Allowance = { name: 'new keys', max: limits.newKeyMailsOfOnePerDay, windowMs: day }

/** Counts a mail with new keys to a customer. */
export async function countNewKeys({ tx, now }: WriteTransaction, customerId: string): Promise<void> {
  const { count, window_ends } = await countIn(tx, now, ofOne, 1, customerId)
  if (count > ofOne.max) throw rateLimited(window_ends - now)
}

/** How the mail queue checks and updates licenses whose keys are sent in one mail. */
export const keyMails: MailSubject = {
  isCurrent: async ({ db }, batchId) =>
    (await db
      .selectFrom('license_mails')
      .select('license_id')
      .where('batch_id', '=', batchId)
      .executeTakeFirst()) !== undefined,
  async onEnded({ tx }, batchId, end) {
    if (end === 'dropped') return
    await tx
      .updateTable('license_mails')
      .set({ mail: end === 'sent' ? 'sent' : 'failed' })
      .where('batch_id', '=', batchId)
      .where('mail', '=', 'queued')
      .execute()
  },
}

/** Queues the mails of a vendor that wait, as far as the day allows. */
export async function releaseKeyMails(ctx: Ctx, ownerId: string): Promise<void> {
  for (let after = ''; ; ) {
    const row = await ctx.db
      .selectFrom('license_mails')
      .select('batch_id')
      .where('owner_id', '=', ownerId)
      .where('mail', '=', sql.lit('waiting'))
      .where('batch_id', '>', after)
      .orderBy('batch_id')
      .limit(1)
      .executeTakeFirst()
    if (!row || !(await releaseBatch(ctx, row.batch_id))) return
    after = row.batch_id
  }
}

/** False if it has to wait further. Keys that another customer has by now are left out. */
const releaseBatch = (ctx: Ctx, batchId: string): Promise<boolean> =>
  ctx.tx(system, async (write) => {
    const { tx } = write
    const waiting = await lock(
      tx,
      tx
        .selectFrom('license_mails')
        .select(['license_id', 'customer_id'])
        .where('batch_id', '=', batchId)
        .where('mail', '=', 'waiting')
        .orderBy('license_id'),
    ).execute()
    const [first] = waiting
    if (!first) return true
    const ids = waiting.map(({ license_id }) => license_id)
    const licenses = await tx
      .selectFrom('licenses')
      .select(['id', 'key', 'owner_id', 'app_id', 'customer_id'])
      .where('id', 'in', ids)
      .where('customer_id', '=', first.customer_id)
      .orderBy('seq')
      .execute()
    await tx.deleteFrom('license_mails').where('license_id', 'in', ids).execute()
    if (licenses.length === 0) return true
    const { mail, insertion } = await queueKeys(ctx, write, licenses, batchId)
    await tx.executeQuery(insertion)
    return mail !== 'waiting'
  })
