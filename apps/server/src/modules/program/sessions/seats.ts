import { sql } from 'kysely'
import { toIso } from '../../../core/clock.ts'
import type { Problem } from '../../../core/problem.ts'
import type { Tx, WriteTransaction } from '../../../db/index.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { lockLicenseById } from '../../licenses/licenses.access.ts'
import { type EndUserFacts, type Floating, type SessionFacts, toActor } from '../facts/facts.ts'
import { refusedLater } from '../verdict/refusal.ts'
import type { VerdictFacts } from '../verdict/verdict.ts'

interface Seated {
  endUser: EndUserFacts
  hwidHash: string | null
  /** What the verdict knew; a refusal reports its devices. */
  facts: VerdictFacts
}

/**
 * Takes a seat of a floating license for a session, or renews it, and returns when it ends. The caller has locked the
 * license, so that no two programs take the last one.
 */
export async function renewOrTakeSeat(
  { tx, now }: WriteTransaction,
  session: Pick<SessionFacts, 'id' | 'endUser'>,
  { endUser, hwidHash, facts }: Seated,
): Promise<number | null> {
  const { floating } = endUser
  if (!floating) {
    // The session had a seat of the license that it was signed in with before.
    if (session.endUser?.floating) await returnSeat(tx, session.id)
    return null
  }
  const until = now + floating.timeoutMs
  const seat = { sessionId: session.id, holder: hwidHash ?? session.id, until }
  if (await takeSeat(tx, floating, seat, now)) return until
  throw await noSeats({ tx, now }, floating, facts)
}

/** Takes a seat again after the session's was not renewed in time. */
export const retakeSeat = (
  ctx: Ctx,
  session: SessionFacts,
  { endUser, facts, address }: { endUser: EndUserFacts; facts: VerdictFacts; address: string },
): Promise<number | null> =>
  ctx.tx(toActor(session, address), async (write) => {
    if (endUser.floating) await lockLicenseById(write.tx, session.app.id, endUser.floating.licenseId)
    return renewOrTakeSeat(write, session, { endUser, hwidHash: session.hwidHash, facts })
  })

async function noSeats(
  { tx, now }: Pick<WriteTransaction, 'tx' | 'now'>,
  floating: Floating,
  facts: VerdictFacts,
): Promise<Problem> {
  const until = await findNextSeat(tx, floating.licenseId, now)
  return refusedLater('noSeats', facts, {
    seats: { used: floating.seats, limit: floating.seats },
    until: until === undefined ? null : toIso(until),
  })
}

// Licenses and sessions come from the resolved token of a call, never from its input, so these functions take no scope.

interface Seat {
  sessionId: string
  /** The hash of the device, which has one seat however many programs it runs; the session's id without a device. */
  holder: string
  until: number
}

/** The holders of a license's seats: programs that renew theirs, and devices whose leases run. */
const taken = (licenseId: string, now: number) => sql<{ holder: string; until: number }>`
  select s.holder, s.until from seats s where s.license_id = ${licenseId} and s.until > ${now}
  union all
  select l.holder, l.until from leased_seats l where l.license_id = ${licenseId} and l.until > ${now}`

/**
 * Takes a seat unless other holders have them all, or renews one that has not ended; seats that were not renewed in
 * time do not count. The caller has locked the license.
 */
async function takeSeat(
  tx: Tx,
  { licenseId, seats }: Floating,
  { sessionId, holder, until }: Seat,
  now: number,
): Promise<boolean> {
  const { rows } = await sql`
    insert into seats (session_id, license_id, holder, until)
    select ${sessionId}, ${licenseId}, ${holder}, ${sql.lit(until)}
    where (select count(distinct t.holder) from (${taken(licenseId, now)}) t where t.holder <> ${holder}) < ${seats}
      or exists (select 1 from seats s where s.session_id = ${sessionId} and s.license_id = ${licenseId}
        and s.holder = ${holder} and s.until > ${now})
    on conflict (session_id) do update
      set license_id = excluded.license_id, holder = excluded.holder, until = excluded.until
    returning session_id`.execute(tx)
  return rows.length > 0
}

/** When the next seat ends unless it is renewed. */
async function findNextSeat(tx: Tx, licenseId: string, now: number): Promise<number | undefined> {
  const { rows } = await sql<{ until: number }>`
    select max(t.until) as until from (${taken(licenseId, now)}) t group by t.holder order by 1 limit 1`.execute(
    tx,
  )
  return rows[0]?.until
}

/** Extends seats that have not ended by the timeouts of their licenses. */
export async function renewSeats(tx: Tx, sessionIds: readonly string[], now: number): Promise<void> {
  await tx
    .updateTable('seats')
    .set({
      until: sql<number>`${sql.lit(now)} + 1000 * (select l.seat_timeout_seconds from licenses l where l.id = seats.license_id)`,
    })
    .where('session_id', 'in', sessionIds)
    .where('until', '>', now)
    .execute()
}

/** Returns the seat of a session; a lease that runs keeps it taken. */
export async function returnSeat(tx: Tx, sessionId: string): Promise<void> {
  await tx.deleteFrom('seats').where('session_id', '=', sessionId).execute()
}
