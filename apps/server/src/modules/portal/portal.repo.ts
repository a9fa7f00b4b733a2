import { type SqlBool, sql } from 'kysely'
import type { ResellerActor } from '../../core/actor.ts'
import { orderOf, type Page } from '../../core/paging.ts'
import { type Database, type Db, lock, lowerCase, type Tx } from '../../db/index.ts'
import { seqsOfPage } from '../../db/lists/pages.ts'
import { anywhere, type SearchTerm } from '../../db/lists/search.ts'
import { hasOwnName, nameBesideKey } from '../customers/names.access.ts'
import { leftOf } from '../licenses/licenses.access.ts'

/** The `seq` of a page of the reseller's `total` licenses. */
export function pageOfLicenses(
  { lists }: Database,
  { resellerId }: ResellerActor,
  page: Page,
  total: number,
): Promise<number[]> {
  return seqsOfPage(lists.selectFrom('licenses').where('reseller_id', '=', resellerId), page, total)
}

/**
 * The `seq` of the reseller's licenses with the text in their key, username or note, newest first. Reads all of them, at most
 * `resellerLimitMax`. The owner's notes are not searched.
 */
export async function searchLicenses(
  { lists }: Database,
  { resellerId }: ResellerActor,
  term: SearchTerm,
): Promise<number[]> {
  const inKey =
    term.key === undefined
      ? sql<SqlBool>`1 = 0`
      : sql<SqlBool>`l.key_normalized like ${anywhere(term.key)} escape '\\'`
  // A key that the end user signs in with can be another one's.
  const inName = sql<SqlBool>`c.username_normalized like ${anywhere(term.text)} escape '\\' and ${hasOwnName}`
  const inNote = sql<SqlBool>`${lowerCase(lists, 'l.reseller_note')} like ${anywhere(term.text)} escape '\\'`
  const found = await lists
    .selectFrom('licenses as l')
    .leftJoin('clients as c', 'c.id', 'l.client_id')
    .select('l.seq')
    .where('l.reseller_id', '=', resellerId)
    .where(sql<SqlBool>`(${inKey} or ${inName} or ${inNote})`)
    .orderBy('l.seq', orderOf.newest)
    .execute()
  return found.map(({ seq }) => seq)
}

/** The `seq` of up to `count` of the reseller's licenses before another, newest first. */
export const licensesBefore = (
  { lists }: Database,
  { resellerId }: ResellerActor,
  before: number,
  count: number,
): Promise<{ seq: number }[]> =>
  lists
    .selectFrom('licenses')
    .select('seq')
    .where('reseller_id', '=', resellerId)
    .where('seq', '<', before)
    .orderBy('seq', orderOf.newest)
    .limit(count)
    .execute()

/** Reads the reseller's licenses with these numbers, newest first. */
export async function readLicenses({ db }: Database, { resellerId }: ResellerActor, seqs: readonly number[]) {
  if (seqs.length === 0) return []
  return shown(db, resellerId).where('l.seq', 'in', seqs).orderBy('l.seq', orderOf.newest).execute()
}

export const findLicense = (db: Db, { resellerId }: ResellerActor, id: string) =>
  shown(db, resellerId).where('l.id', '=', id).executeTakeFirst()

const shown = (db: Db, resellerId: string) =>
  db
    .selectFrom('licenses as l')
    .select(['l.id', 'l.key', 'l.used', 'l.banned', 'l.created_at', 'l.expires_at', 'l.grace_days'])
    .select([
      'l.term',
      'l.duration_value',
      'l.duration_unit',
      'l.started_at',
      'l.client_id',
      'l.reseller_note',
    ])
    .select([nameBesideKey('l').as('username'), leftOf('l').as('left_ms')])
    .where('l.reseller_id', '=', resellerId)

/** The note on one of the reseller's licenses, which stays locked until the transaction ends. */
export function lockNote(tx: Tx, { resellerId }: ResellerActor, id: string) {
  const license = tx.selectFrom('licenses').select('reseller_note as note').where('id', '=', id)
  return lock(tx, license.where('reseller_id', '=', resellerId)).executeTakeFirst()
}

/** Counts the reseller's licenses; a covering index holds all columns read. */
export async function countLicenses({ lists }: Database, { resellerId }: ResellerActor, now: number) {
  const row = await lists
    .selectFrom('licenses')
    .select((eb) => [
      eb.fn.countAll<number>().as('total'),
      sql<number>`coalesce(sum(used), 0)`.as('used'),
      sql<number>`coalesce(sum(case when expires_at <= ${now} then 1 else 0 end), 0)`.as('expired'),
      sql<number>`coalesce(sum(case when expires_at > ${now} and used = 0 then 1 else 0 end), 0)`.as(
        'available',
      ),
    ])
    .where('reseller_id', '=', resellerId)
    .executeTakeFirstOrThrow()
  return {
    total: Number(row.total),
    used: Number(row.used),
    expired: Number(row.expired),
    available: Number(row.available),
  }
}
