import { sql } from 'kysely'
import { allApps, type OwnerScope } from '../../core/actor.ts'
import { foundInScope, lock, type Tx } from '../../db/index.ts'
import { deleteTokenOf } from './device-tokens.access.ts'
import { countFreed } from './devices.access.ts'

/**
 * Unbinds a device of an end user, whom the caller has locked, and keeps its place until its lease ends: the program
 * runs on there as long. Returns that time; undefined if no lease runs.
 */
export async function freeAfterLease(
  tx: Tx,
  scope: OwnerScope,
  clientId: string,
  id: string,
  now: number,
): Promise<number | undefined> {
  const held = await tx
    .updateTable('devices')
    .set((eb) => ({ freed_until: eb.ref('lease_until') }))
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .where(foundInScope(scope, 'devices'))
    .where('lease_until', '>', now)
    .returning('lease_until')
    .executeTakeFirst()
  if (held?.lease_until == null) return undefined
  await deleteTokenOf(tx, id)
  await countFreed(tx, scope, clientId, 0)
  return held.lease_until
}

/** Frees the places of an end user, whom the caller has locked, whose leases have ended; returns how many. */
export async function freeEnded(tx: Tx, scope: OwnerScope, clientId: string, now: number): Promise<number> {
  const deleted = await tx
    .deleteFrom('devices')
    .where('client_id', '=', clientId)
    .where(foundInScope(scope, 'devices'))
    .where('freed_until', '<=', now)
    .returning('id')
    .execute()
  if (deleted.length > 0) await countFreed(tx, scope, clientId, deleted.length)
  return deleted.length
}

/** Frees up to `count` places whose leases have ended, across all owners, and returns how many. */
export async function freeAllEnded(tx: Tx, now: number, count: number): Promise<number> {
  const due = await tx
    .selectFrom('devices')
    .select(['client_id', 'owner_id'])
    .where('freed_until', '<=', now)
    .limit(count)
    .execute()
  for (const [id, [first]] of [...Map.groupBy(due, (row) => row.client_id)].sort()) {
    const user = tx.selectFrom('clients').select('id').where('id', '=', id)
    await lock(tx, user).executeTakeFirst()
    if (first) await freeEnded(tx, allApps(first.owner_id), id, now)
  }
  return due.length
}

/**
 * Frees the seats that leases of end users keep, or of one of their devices: only owners may, because the programs run
 * on. The caller has locked the end users.
 */
export async function freeLeasedSeats(
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  deviceId?: string,
): Promise<void> {
  const licenses = tx
    .selectFrom('licenses')
    .select('id')
    .where('client_id', 'in', clientIds)
    .where(foundInScope(scope, 'licenses'))
  const kept = tx.deleteFrom('leased_seats').where('license_id', 'in', licenses)
  if (deviceId === undefined) {
    await kept.execute()
    return
  }
  const device = tx.selectFrom('devices').where('client_id', 'in', clientIds).where('id', '=', deviceId)
  // A device that drifted keeps the seat of its lease under its former hash, unless that lease has ended since.
  const leased = device.select('lease_hash').where('lease_until', '>=', sql.ref<number>('leased_seats.until'))
  await kept
    .where(({ eb, or }) =>
      or([
        eb('holder', 'in', device.select('hwid_hash')),
        eb('holder', 'in', leased.$castTo<{ lease_hash: string }>()),
      ]),
    )
    .execute()
}

/**
 * Notes that a lease runs on a bound device; false if it is not bound by this hash any more, or if a lease that it got
 * under another hash still runs: two machines would then share the place.
 */
export async function leaseDevice(
  tx: Tx,
  scope: OwnerScope,
  { id, hwidHash }: { id: string; hwidHash: string },
  until: number,
  now: number,
): Promise<boolean> {
  const isOwn = sql<boolean>`lease_hash = ${hwidHash}`
  const updated = await tx
    .updateTable('devices')
    .set({
      lease_hash: hwidHash,
      lease_until: sql`case when ${isOwn} and lease_until > ${until} then lease_until else cast(${until} as bigint) end`,
    })
    .where('id', '=', id)
    .where('hwid_hash', '=', hwidHash)
    .where(foundInScope(scope, 'devices'))
    .where('freed_until', 'is', null)
    .where(({ eb, or }) => or([eb('lease_until', 'is', null), eb('lease_until', '<=', now), isOwn]))
    .returning('id')
    .executeTakeFirst()
  return updated !== undefined
}

/** Keeps the seat of a holder until a lease that it just got ends. */
export async function leaseSeat(tx: Tx, licenseId: string, holder: string, until: number): Promise<void> {
  await sql`
    insert into leased_seats (license_id, holder, until) values (${licenseId}, ${holder}, ${sql.lit(until)})
    on conflict (license_id, holder) do update
      set until = case when leased_seats.until > excluded.until then leased_seats.until else excluded.until end`.execute(
    tx,
  )
}
