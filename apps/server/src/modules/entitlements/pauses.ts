import { sql } from 'kysely'
import { allApps, type OwnerScope } from '../../core/actor.ts'
import { day, lastInstant } from '../../core/clock.ts'
import { foundInScope, isIn, type Tx } from '../../db/index.ts'
import { setEndUserEnd } from './entitlements.service.ts'
import { lockLicensesOf } from './license-locks.ts'

// A paused end user keeps the time from `paused_at` to `expires_at`. Housekeeping moves both forward together, so that
// `expires_at` stays ahead of the clock: counts, filters and extensions compare it with the clock.

interface Paused {
  paused_at: number | null
  expires_at: number
}

/** The end as of now: the time of the pause does not count. */
export function endOf({ paused_at, expires_at }: Paused, now: number): number {
  const isRunning = paused_at === null || expires_at <= paused_at || expires_at > lastInstant
  return isRunning ? expires_at : Math.min(lastInstant, expires_at + Math.max(0, now - paused_at))
}

/** Since when the end user that shares the end of a license is paused, by the alias of the license. */
export const pauseOf = (license: string) =>
  sql<number | null>`(select u.paused_at from clients u
    where u.id = ${sql.ref(`${license}.client_id`)} and u.license_id = ${sql.ref(`${license}.id`)})`

/** Pauses or resumes an end user whose row is locked; its license's row is locked before. Returns the end. */
export async function setPaused(
  tx: Tx,
  scope: OwnerScope,
  client: Paused & { id: string },
  isPaused: boolean,
  now: number,
): Promise<number> {
  const end = endOf(client, now)
  if (end !== client.expires_at) await setEndUserEnd(tx, scope, client.id, end)
  await tx
    .updateTable('clients')
    .set({ paused_at: isPaused ? now : null })
    .where('id', '=', client.id)
    .where(foundInScope(scope, 'clients'))
    .execute()
  return end
}

/** Moves the ends of paused end users forward; for transactions that change the ends next. */
export async function movePauses(
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  now: number,
): Promise<void> {
  if (clientIds.length === 0) return
  const paused = await tx
    .selectFrom('clients')
    .select(['id', 'paused_at', 'expires_at'])
    .where(isIn(tx, 'id', clientIds))
    .where(foundInScope(scope, 'clients'))
    .where('paused_at', 'is not', null)
    .execute()
  for (const client of paused) await setPaused(tx, scope, client, true, now)
}

/** Moves up to `count` paused ends that come within a day, across all owners; returns how many. */
export async function movePausesDue(tx: Tx, now: number, count: number): Promise<number> {
  const due = await tx
    .selectFrom('clients')
    .select(['id', 'owner_id'])
    .where('paused_at', '<', now)
    .where('expires_at', '<', now + day)
    .where(sql<boolean>`expires_at > paused_at`)
    .limit(count)
    .execute()
  for (const { id, owner_id } of due) {
    const scope = allApps(owner_id)
    await lockLicensesOf(tx, scope, [id])
    await movePauses(tx, scope, [id], now)
  }
  return due.length
}
