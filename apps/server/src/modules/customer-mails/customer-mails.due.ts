import { sql } from 'kysely'
import { day } from '../../core/clock.ts'
import type { Db } from '../../db/index.ts'
import { isEnding, renews } from './customer-mails.repo.ts'
import { endedMs, type Settings, type Told, updatesSoonMs } from './customer-mails.rules.ts'

// Which mails of an app are due, found part by part of its licenses, by the index of their ends or of their numbers.

export interface Due extends Told {
  license_id: string
  customer_id: string
  owner_id: string
}

/** A place in the index of ends. */
interface Place {
  at: number
  seq: number
}

const perPart = 2000
const dayMs = sql.lit(day)
/** The end that people see. */
const end = sql<number>`(l.expires_at - cast(l.grace_days as bigint) * ${dayMs})`

/** Licenses whose customers are told of anything. */
const candidates = (db: Db, appId: string) =>
  db
    .selectFrom('licenses as l')
    .innerJoin('customers as c', 'c.id', 'l.customer_id')
    .select(['l.id as license_id', 'l.customer_id', 'l.owner_id'])
    .where('l.app_id', '=', appId)
    .where('l.banned', '=', 0)
    .where('l.test', '=', 0)
    .where('c.mails', '=', 1)
    // A key that was added to an end user has no end of its own.
    .where(sql<boolean>`(l.client_id is null or exists (
      select 1 from clients u where u.id = l.client_id and u.license_id = l.id and u.banned = 0))`)

const isNew = (kind: string, until: ReturnType<typeof sql>, days: ReturnType<typeof sql>) =>
  sql<boolean>`not exists (select 1 from customer_mails m
    where m.subject = l.id and m.kind = ${sql.lit(kind)} and m.until = ${until} and m.days <= ${days})`

/** Ends of licenses that are near or have come, a part after the other. */
export async function* findEnds(
  db: Db,
  appId: string,
  settings: Settings,
  now: number,
): AsyncGenerator<Due[]> {
  const { endsSoonDays, endedSince } = settings
  if (endsSoonDays.length === 0 && endedSince === null) return
  const from = endedSince === null ? now : Math.max(endedSince, now - endedMs)
  // Access goes on for up to 90 days after the end that people see.
  const to = now + (Math.max(0, ...endsSoonDays) + graceMost) * day
  for (const used of [0, 1] as const) {
    const within = (after: Place) =>
      db
        .selectFrom('licenses')
        .where('app_id', '=', appId)
        .where('used', '=', used)
        .where(sql<boolean>`(expires_at, seq) > (${after.at}, ${after.seq})`)
        .where('expires_at', '<=', to)
    let after: Place = { at: from, seq: Number.MAX_SAFE_INTEGER }
    for (;;) {
      const last = await within(after)
        .select(['expires_at as at', 'seq'])
        .orderBy('expires_at')
        .orderBy('seq')
        .limit(1)
        .offset(perPart - 1)
        .executeTakeFirst()
      const before = last ?? { at: to, seq: Number.MAX_SAFE_INTEGER }
      const due = await dueBetween(db, appId, used, { after, before }, settings, { now, from })
      if (due.length > 0) yield due
      if (!last) break
      after = { at: Number(last.at), seq: Number(last.seq) }
    }
  }
}

const graceMost = 90

async function dueBetween(
  db: Db,
  appId: string,
  used: 0 | 1,
  { after, before }: { after: Place; before: Place },
  settings: Settings,
  { now, from }: { now: number; from: number },
): Promise<Due[]> {
  const days = daysBefore(settings.endsSoonDays, now)
  const rows = await candidates(db, appId)
    .select([end.as('until'), days.as('days')])
    .where('l.used', '=', used)
    .where(sql<boolean>`(l.expires_at, l.seq) > (${after.at}, ${after.seq})`)
    .where(sql<boolean>`(l.expires_at, l.seq) <= (${before.at}, ${before.seq})`)
    .where(
      sql<boolean>`((${end} > ${now} and ${days} > 0 and ${isNew('endsSoon', end, days)})
        or (${end} > ${from} and ${end} <= ${now} and ${isNew('ended', end, sql`0`)}
          and not ${isEnding('l', now)}))`,
    )
    .where(sql<boolean>`${renews('l')} = 0`)
    .execute()
  return rows.map((row) => {
    const until = Number(row.until)
    const isSoon = until > now
    return toDue(row, { kind: isSoon ? 'endsSoon' : 'ended', until, days: isSoon ? Number(row.days) : 0 })
  })
}

/**
 * The number of days within which a license ends, 0 for none. Only the last mail before an end goes to a license that never
 * had as many days.
 */
function daysBefore(list: readonly number[], now: number) {
  const [last, ...earlier] = list.toSorted((a, b) => a - b)
  if (last === undefined) return sql<number>`0`
  const cases = earlier.map(
    (
      days,
    ) => sql`when ${end} <= ${now + days * day} and ${end} - coalesce(l.started_at, l.created_at) > ${sql.lit(days * day)}
      then ${sql.lit(days)}`,
  )
  return sql<number>`(case when ${end} <= ${now + last * day} then ${sql.lit(last)} ${sql.join(cases, sql` `)} else 0 end)`
}

/** Ends of updates that are near, a part after the other. */
export async function* findEndsOfUpdates(db: Db, appId: string, now: number): AsyncGenerator<Due[]> {
  const until = sql<number>`coalesce(l.updates_until,
    case l.term when 'first_use' then l.started_at else l.created_at end
      + cast(l.updates_for_days as bigint) * ${dayMs})`
  for (let after = 0; ; ) {
    const part = db
      .selectFrom('licenses')
      .select('seq')
      .where('app_id', '=', appId)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(perPart)
    const { last } = await db
      .selectFrom(part.as('part'))
      .select((eb) => eb.fn.max('part.seq').as('last'))
      .executeTakeFirstOrThrow()
    if (last === null) return
    const rows = await candidates(db, appId)
      .select(until.as('until'))
      .where('l.seq', '>', after)
      .where('l.seq', '<=', Number(last))
      .where(sql<boolean>`${until} > ${now} and ${until} <= ${now + updatesSoonMs} and ${end} > ${until}`)
      .where(isNew('updatesEndSoon', until, sql`0`))
      .execute()
    const due = rows.map((row) => toDue(row, { kind: 'updatesEndSoon', until: Number(row.until), days: 0 }))
    if (due.length > 0) yield due
    after = Number(last)
  }
}

const toDue = (
  { license_id, customer_id, owner_id }: { license_id: string; customer_id: string | null; owner_id: string },
  told: Told,
): Due => ({ license_id, customer_id: customer_id ?? '', owner_id, ...told })
