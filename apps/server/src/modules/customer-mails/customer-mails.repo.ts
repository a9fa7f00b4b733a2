import type { RawBuilder, Selectable } from 'kysely'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { hour } from '../../core/clock.ts'
import type { Page } from '../../core/paging.ts'
import { type Database, type Db, inScope, isIn, lock, prepared, type Tx } from '../../db/index.ts'
import { countUpTo } from '../../db/lists/pages.ts'
import type { CustomerMailRow, Tables } from '../../db/tables.ts'
import { newSettings, type Settings } from './customer-mails.rules.ts'

type SettingsRow = Selectable<Tables['customer_mail_settings']>

/** The settings of an app, which the caller has checked. */
export async function readSettings(db: Db, appId: string): Promise<Settings> {
  const row = await db
    .selectFrom('customer_mail_settings')
    .selectAll()
    .where('app_id', '=', appId)
    .executeTakeFirst()
  return row ? toSettings(row) : newSettings
}

const toSettings = (row: SettingsRow): Settings => ({
  endsSoonDays: JSON.parse(row.ends_soon_days),
  endedSince: row.ended_since,
  paymentFailed: row.payment_failed === 1,
  updatesEndSoon: row.updates_end_soon === 1,
  renewed: row.renewed === 1,
})

/** Saves the settings of an app, which the transaction has locked. */
export async function saveSettings(
  tx: Tx,
  appId: string,
  settings: Settings,
  lookAt: number | null,
): Promise<void> {
  const flag = (value: boolean) => (value ? (1 as const) : (0 as const))
  const row = {
    ends_soon_days: JSON.stringify(settings.endsSoonDays),
    ended_since: settings.endedSince,
    payment_failed: flag(settings.paymentFailed),
    updates_end_soon: flag(settings.updatesEndSoon),
    renewed: flag(settings.renewed),
    look_at: lookAt,
  }
  await tx
    .insertInto('customer_mail_settings')
    .values({ app_id: appId, ...row })
    .onConflict((conflict) => conflict.column('app_id').doUpdateSet(row))
    .execute()
}

/** Takes the app that waits longest to be looked at until `until`, unless another process is faster. */
export async function claimLook(
  tx: Tx,
  { now, until }: { now: number; until: number },
): Promise<{ appId: string; settings: Settings } | undefined> {
  const oldest = tx
    .selectFrom('customer_mail_settings')
    .select('app_id')
    .where('look_at', '<=', now)
    .orderBy('look_at')
    .limit(1)
  const row = await tx
    .updateTable('customer_mail_settings')
    .set({ look_at: until })
    .where('app_id', '=', oldest)
    .where('look_at', '<=', now)
    .returningAll()
    .executeTakeFirst()
  return row && { appId: row.app_id, settings: toSettings(row) }
}

export const hasLook = async (db: Db, now: number): Promise<boolean> =>
  (await db
    .selectFrom('customer_mail_settings')
    .select('app_id')
    .where('look_at', '<=', now)
    .limit(1)
    .executeTakeFirst()) !== undefined

/** Sets when an app is checked next; false if its settings were saved or another process claimed it in the meantime. */
export async function endLook(
  tx: Tx,
  appId: string,
  { claimed, next }: { claimed: number; next: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('customer_mail_settings')
    .set({ look_at: next })
    .where('app_id', '=', appId)
    .where('look_at', '=', claimed)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export type NewMail = Omit<CustomerMailRow, 'seq' | 'done_at' | 'kept_until'>

/** Adds mails, but those that there are already. */
export async function insertMails(tx: Tx, mails: readonly NewMail[]): Promise<void> {
  if (mails.length === 0) return
  await prepared.insert(tx, 'customer_mails', mails, 'subject', 'kind', 'until', 'days').later()
}

const waiting = sql<boolean>`m.state = 'waiting'`

/** The first vendor after `after` with mails that wait. */
export async function findWaitingOwner(db: Db, after: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('customer_mails as m')
    .select((eb) => eb.fn.min('m.owner_id').as('id'))
    .where(waiting)
    .where('m.owner_id', '>', after)
    .executeTakeFirst()
  return row?.id ?? undefined
}

/** Gives up to `count` mails of a vendor up that could not be sent in time, and returns how many. */
export async function missMails(
  tx: Tx,
  ownerId: string,
  { now, keptUntil, count }: { now: number; keptUntil: number; count: number },
): Promise<number> {
  const late = tx
    .selectFrom('customer_mails as m')
    .select('m.id')
    .where('m.owner_id', '=', ownerId)
    .where(waiting)
    .where('m.ends_at', '<=', now)
    .limit(count)
  const missed = await tx
    .updateTable('customer_mails')
    .set({ state: 'missed', done_at: now, kept_until: keptUntil })
    .where('id', 'in', late)
    .where('state', '=', 'waiting')
    .returning('id')
    .execute()
  return missed.length
}

/** Ends mails with the same outcome. */
export async function endMails(
  tx: Tx,
  ids: readonly string[],
  change: Partial<Pick<CustomerMailRow, 'state' | 'done_at' | 'kept_until'>>,
): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('customer_mails')
    .set(change)
    .where(isIn(tx, 'id', ids))
    .where('state', 'in', ['waiting', 'queued'])
    .execute()
}

/** A mail with all that filling it in needs. */
const views = (db: Db) =>
  db
    .selectFrom('customer_mails as m')
    .innerJoin('customers as c', 'c.id', 'm.customer_id')
    .innerJoin('apps as a', 'a.id', 'm.app_id')
    .leftJoin('licenses as l', 'l.id', 'm.license_id')
    .selectAll('m')
    .select(['c.email', 'c.name', 'c.mails', 'c.mail_token'])
    .select(['a.name as app', 'a.app_id as public_app_id', 'a.customer_page'])
    .select([
      sql<number>`(select cl.banned from clients cl where cl.id = l.client_id)`.as('user_banned'),
      sql<
        string | null
      >`(select o.locale from shop_orders o where o.customer_id = c.id and o.locale is not null
        order by o.seq desc limit 1)`.as('locale'),
      renews('l').as('renews'),
      // The subject of `security` is a release and the customer.
      sql<number>`case when m.kind = 'security' and exists (
        select 1 from releases r where r.withdrawn_at is null
          and r.id = substr(m.subject, 1, length(m.subject) - length(m.customer_id) - 1)) then 1 else 0 end`.as(
        'is_offered',
      ),
    ])

/** Whether a subscription of a license will charge again, as 0 or 1. */
export const renews = (license: string) =>
  sql<number>`(case when ${hasOrder(license, sql`u.unheard = 0 and o.renews = 1`)} then 1 else 0 end)`

/** Whether an order of a license has ended and waits for its next check, which may make the license permanent. */
export const isEnding = (license: string, now: number) =>
  hasOrder(license, sql`o.ends_at <= ${now} and o.ends_at > ${now - hour}`)

/** Whether an order that created or renewed a license is so. */
function hasOrder(license: string, is: RawBuilder<unknown>) {
  const by = (column: 'license_id' | 'renewed_id') => sql`exists (
    select 1 from shop_order_units u join shop_orders o on o.id = u.order_id
    where u.${sql.raw(column)} = ${sql.ref(`${license}.id`)} and ${is})`
  return sql<boolean>`(${by('license_id')} or ${by('renewed_id')})`
}

/** With its license, as it is now. */
export type MailView = Awaited<
  ReturnType<typeof withLicenses<Awaited<ReturnType<typeof readViews>>[number]>>
>[number]

const readViews = (db: Db, ids: readonly string[]) =>
  views(db)
    .where(isIn(db, 'm.id', ids))
    .orderBy('m.ends_at')
    .orderBy('m.seq')
    .execute()

async function withLicenses<Row extends { license_id: string | null }>(db: Db, rows: readonly Row[]) {
  const ids = rows.flatMap(({ license_id }) => license_id ?? [])
  const licenses =
    ids.length === 0
      ? []
      : await db
          .selectFrom('licenses as l')
          .selectAll('l')
          .where(isIn(db, 'l.id', ids))
          .execute()
  const byId = new Map(licenses.map((license) => [license.id, license]))
  return rows.map((row) => ({ ...row, license: byId.get(row.license_id ?? '') ?? null }))
}

/** The mails of a vendor that wait, the most urgent ones first. Locks them where transactions run at once. */
export async function listWaiting(
  tx: Tx,
  ownerId: string,
  { now, count, onlySecurity }: { now: number; count: number; onlySecurity: boolean },
) {
  const some = tx
    .selectFrom('customer_mails as m')
    .select('m.id')
    .where('m.owner_id', '=', ownerId)
    .where(waiting)
    .where('m.ends_at', '>', now)
    .orderBy('m.ends_at')
    .orderBy('m.seq')
    .limit(count)
  const rows = await lock(tx, onlySecurity ? some.where('m.kind', '=', 'security') : some).execute()
  return rows.length === 0
    ? []
    : readMails(
        tx,
        rows.map(({ id }) => id),
      )
}

/** Mails with all that filling them in needs, the most urgent ones first. */
export const readMails = async (db: Db, ids: readonly string[]) => withLicenses(db, await readViews(db, ids))

/** How many mails of a lane wait for the mail server, up to `most`. */
export async function countQueued(db: Db, lane: string, most: number): Promise<number> {
  const { n } = await db
    .selectFrom(
      db
        .selectFrom('mails')
        .select('id')
        .where('lane', '=', lane)
        .where('due_at', 'is not', null)
        .limit(most)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

export interface MailFilter {
  appId: string | undefined
  /** As the caller sees it; found before. */
  customerId: string | undefined
  kind: CustomerMailRow['kind'] | undefined
  state: CustomerMailRow['state'] | undefined
}

/** A page of mails, newest first, and their number up to `most` + 1. */
export async function pageMails(
  { lists }: Database,
  scope: OwnerScope,
  { appId, customerId, kind, state }: MailFilter,
  { page, limit }: Page,
  most: number,
) {
  let found = lists.selectFrom('customer_mails as m').where(inScope(scope, 'm'))
  if (appId !== undefined) found = found.where('m.app_id', '=', appId)
  if (customerId !== undefined) found = found.where('m.customer_id', '=', customerId)
  if (kind !== undefined) found = found.where('m.kind', '=', kind)
  if (state !== undefined) found = found.where('m.state', '=', state)
  const total = await countUpTo(lists, found.select('m.seq'), most)
  const offset = (page - 1) * limit
  if (offset >= Math.min(total, most)) return { rows: [], total }
  const rows = await found
    .innerJoin('apps as a', 'a.id', 'm.app_id')
    .leftJoin('licenses as l', 'l.id', 'm.license_id')
    .selectAll('m')
    .select(['a.name as app', 'a.app_id as public_app_id', 'l.id as found_id', 'l.key'])
    .orderBy('m.seq', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return { rows, total }
}

/** How many licenses are looked at for an example. */
const sampledMost = 5000

/** A license of an app that has a customer: the named one, else one that ends next. */
export async function findSample(
  db: Db,
  appId: string,
  { now, license }: { now: number; license?: string | undefined },
) {
  const found = db
    .selectFrom('licenses as l')
    .innerJoin('customers as c', 'c.id', 'l.customer_id')
    .selectAll('l')
    .select('c.name as customer_name')
    .select(
      sql<string | null>`(select o.number from shop_order_units u join shop_orders o on o.id = u.order_id
        where u.license_id = l.id)`.as('order_number'),
    )
    .where('l.app_id', '=', appId)
  if (license !== undefined) return found.where('l.id', '=', license).executeTakeFirst()
  for (const used of [1, 0] as const) {
    const next = db
      .selectFrom('licenses')
      .select('id')
      .where('app_id', '=', appId)
      .where('used', '=', used)
      .where('expires_at', '>', now)
      .orderBy('expires_at')
      .orderBy('seq')
      .limit(sampledMost)
    const row = await found
      .where('l.id', 'in', db.selectFrom(next.as('next')).select('next.id'))
      .orderBy('l.expires_at')
      .orderBy('l.seq')
      .limit(1)
      .executeTakeFirst()
    if (row) return row
  }
  return undefined
}
