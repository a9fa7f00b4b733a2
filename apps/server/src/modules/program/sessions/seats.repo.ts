import { sql } from 'kysely'
import type { Tx } from '../../../db/index.ts'
import type { Floating } from '../facts/facts.ts'

// Licenses and sessions come from the resolved token of a call, never from its input, so these functions take no scope.

export interface Seat {
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
export async function takeSeat(
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
export async function findNextSeat(tx: Tx, licenseId: string, now: number): Promise<number | undefined> {
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
