import { sql } from 'kysely'
import { dayNumber } from '../../core/clock.ts'
import { lock, type Tx } from '../../db/index.ts'
import { setToldRelease } from '../devices/versions.access.ts'

/** A device whose program got the advisory of a release, and its version. */
export interface ToldDevice {
  releaseId: string
  deviceId: string
  version: string
}

/** Writes which devices were told, once for each release. Devices and releases that were deleted meanwhile are left out. */
export async function tellDevices(tx: Tx, told: readonly ToldDevice[], now: number): Promise<void> {
  const idsOf = (of: (one: ToldDevice) => string) => [...new Set(told.map(of))]
  // The locks hold until the commit, so that no deletion fails the whole batch.
  const releases = toIds(
    await lock
      .shared(
        tx,
        tx
          .selectFrom('releases')
          .select('id')
          .where(
            'id',
            'in',
            idsOf(({ releaseId }) => releaseId),
          )
          .orderBy('id'),
      )
      .execute(),
  )
  const devices = toIds(
    await lock
      .all(
        tx,
        tx
          .selectFrom('devices')
          .select('id')
          .where(
            'id',
            'in',
            idsOf(({ deviceId }) => deviceId),
          ),
      )
      .execute(),
  )
  const rows = told.flatMap(({ releaseId, deviceId, version }) =>
    releases.has(releaseId) && devices.has(deviceId)
      ? [{ release_id: releaseId, device_id: deviceId, version, at: now }]
      : [],
  )
  if (rows.length === 0) return
  const inserted = await tx
    .insertInto('told_devices')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning('release_id')
    .execute()
  for (const [releaseId, some] of Map.groupBy(inserted, (row) => row.release_id))
    await countTold(tx, { releaseId, column: 'told_devices', n: some.length }, now)
  for (const [releaseId, some] of Map.groupBy(rows, (row) => row.release_id)) {
    const ids = some.map((row) => row.device_id)
    await setToldRelease(tx, ids, releaseId)
  }
}

/** Writes who is mailed about a release, and returns the customers who were not yet. */
export async function tellCustomers(
  tx: Tx,
  releaseId: string,
  customers: readonly { id: string; devices: number }[],
  now: number,
): Promise<string[]> {
  if (customers.length === 0) return []
  const ids = customers.map(({ id }) => id)
  const found = tx.selectFrom('customers').select('id').where('id', 'in', ids).orderBy('id')
  const existing = toIds(await lock.shared(tx, found).execute())
  const rows = customers.flatMap(({ id, devices }) =>
    existing.has(id) ? [{ release_id: releaseId, customer_id: id, devices, at: now }] : [],
  )
  if (rows.length === 0) return []
  const told = await tx
    .insertInto('told_customers')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning('customer_id')
    .execute()
  if (told.length > 0) await countTold(tx, { releaseId, column: 'told_customers', n: told.length }, now)
  return told.map(({ customer_id }) => customer_id)
}

/**
 * Counts a release among those of a week that an owner, whom the caller has locked, mails customers about; false if there
 * are `max` others.
 */
export async function takeNotice(
  tx: Tx,
  notice: { owner_id: string; release_id: string; expires_at: number },
  now: number,
  max: number,
): Promise<boolean> {
  const { owner_id, release_id, expires_at } = notice
  const { rows } = await sql`
    insert into release_notices (owner_id, release_id, expires_at)
    select ${owner_id}, ${release_id}, cast(${expires_at} as bigint)
    where (select count(*) from release_notices n
      where n.owner_id = ${owner_id} and n.release_id <> ${release_id} and n.expires_at > ${now}) < ${sql.lit(max)}
    on conflict (owner_id, release_id) do update set expires_at = case
      when release_notices.expires_at > ${now} then release_notices.expires_at else excluded.expires_at end
    returning release_id`.execute(tx)
  return rows.length > 0
}

interface Told {
  releaseId: string
  column: 'told_devices' | 'told_customers'
  n: number
}

/** Adds to the numbers of today, which stay when devices and customers are gone. */
async function countTold(tx: Tx, { releaseId, column, n }: Told, now: number): Promise<void> {
  await tx
    .insertInto('release_days')
    .values({ release_id: releaseId, day: dayNumber(now), [column]: n })
    .onConflict((conflict) =>
      conflict
        .columns(['release_id', 'day'])
        .doUpdateSet((eb) => ({ [column]: eb(`release_days.${column}`, '+', n) })),
    )
    .execute()
}

/** Keeps how many devices each release left exposed at the end of a day. */
export async function keepExposed(tx: Tx, day: number, exposed: ReadonlyMap<string, number>): Promise<void> {
  const found = tx
    .selectFrom('releases')
    .select('id')
    .where('id', 'in', [...exposed.keys()])
    .orderBy('id')
  // Releases may have been removed meanwhile.
  const releases = toIds(await lock.shared(tx, found).execute())
  const rows = [...exposed].flatMap(([release_id, n]) =>
    releases.has(release_id) ? [{ release_id, day, exposed: n }] : [],
  )
  if (rows.length === 0) return
  await tx
    .insertInto('release_days')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['release_id', 'day']).doUpdateSet((eb) => ({ exposed: eb.ref('excluded.exposed') })),
    )
    .execute()
}

const toIds = (rows: readonly { id: string }[]): Set<string> => new Set(rows.map(({ id }) => id))
