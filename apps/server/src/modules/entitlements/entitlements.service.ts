import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { licenseColumns } from '../../db/columns.ts'
import { foundInScope, inScope, isIn, send, type Tx, update } from '../../db/index.ts'
import { never, toShownEnd } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { storeAddedRights } from './added-rights.ts'
import { type AddedKey, forgetAddedTime, takeBack, takeBackFreed } from './added-time.ts'
import { extended, withEnd } from './end-columns.ts'
import { atFirstUse } from './term.rules.ts'

// A license and its end user share an expiry and a redemption: a statement here changes both, or the caller runs the
// other one in the same transaction. Always lock licenses before end users: the opposite order deadlocks.

type Redeemable = Parameters<typeof atFirstUse>[0] & Pick<LicenseRow, 'id'>

/**
 * Marks a license, which the caller has locked, as used by an end user, or by one that the same transaction creates
 * next: its counts are locked before those of end users. Starts the clock of a `first_use` license. Exactly one
 * concurrent caller gets the redeemed license.
 */
export const redeem = (
  tx: Tx,
  scope: OwnerScope,
  license: Redeemable,
  clientId: string | null,
  now: number,
): Promise<LicenseRow | undefined> =>
  tx
    .updateTable('licenses')
    .set({ used: 1, used_at: now, client_id: clientId, ...atFirstUse(license, now) })
    .where('id', '=', license.id)
    .where(inScope(scope))
    .where('used', '=', 0)
    .returning(licenseColumns)
    .executeTakeFirst()

/** Names the end user of a license that was redeemed before the end user existed. */
export async function setEndUserOfLicense(
  tx: Tx,
  scope: OwnerScope,
  licenseId: string,
  clientId: string,
): Promise<void> {
  await send(tx, [update(tx, 'licenses', { client_id: clientId }, { id: licenseId, scope })])
}

/** Sets the first license, and so the expiry, of an end user whose former one was deleted. */
export async function setFirstLicense(
  tx: Tx,
  scope: OwnerScope,
  license: Pick<LicenseRow, 'id' | 'expires_at' | 'grace_days'>,
  clientId: string,
): Promise<void> {
  await tx
    .updateTable('clients')
    .set({ license_id: license.id, expires_at: license.expires_at, grace_days: license.grace_days })
    .where('id', '=', clientId)
    .where(inScope(scope))
    .execute()
}

/** Sets when access of an end user and its first license ends; a key added later keeps its own end. */
export async function setEndUserEnd(
  tx: Tx,
  scope: OwnerScope,
  clientId: string,
  endsAt: number,
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set(withEnd(endsAt))
    .where('client_id', '=', clientId)
    .where(foundInScope(scope, 'licenses'))
    .where(isFirstLicense)
    .execute()
  await tx
    .updateTable('clients')
    .set({ expires_at: endsAt })
    .where('id', '=', clientId)
    .where(inScope(scope))
    .execute()
}

/** Sets when a license ends, and access of the end user whose first license it is: keys added to it no longer count. */
export async function setLicenseEnd(
  tx: Tx,
  scope: OwnerScope,
  licenseId: string,
  endsAt: number,
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set(withEnd(endsAt))
    .where('id', '=', licenseId)
    .where(inScope(scope))
    .execute()
  const users = await tx
    .updateTable('clients')
    .set({ expires_at: endsAt })
    .where('license_id', '=', licenseId)
    .where(foundInScope(scope, 'clients'))
    .returning('id')
    .execute()
  if (users.length > 0) await forgetAddedTime(tx, scope, ids(users))
}

/** Extends those of the licenses that have an end, and the end users whose first licenses they are; returns their ids. */
export async function extendLicenses(
  tx: Tx,
  scope: OwnerScope,
  licenseIds: readonly string[],
  days: number,
  now: number,
): Promise<string[]> {
  const licenses = await tx
    .updateTable('licenses')
    .set({ expires_at: extended(days, now) })
    .where('id', 'in', licenseIds)
    .where(foundInScope(scope, 'licenses'))
    .where('expires_at', '<>', never)
    .returning('id')
    .execute()
  await copyEndsToUsers(tx, scope, licenseIds)
  return licenses.map(({ id }) => id)
}

/** Gives end users the end of access and the grace days of their first licenses, which the transaction changed. */
export async function copyEndsToUsers(
  tx: Tx,
  scope: OwnerScope,
  licenseIds: readonly string[],
): Promise<void> {
  const ofLicense = (column: 'expires_at' | 'grace_days') =>
    sql<number>`(select ${sql.ref(`l.${column}`)} from licenses l where l.id = clients.license_id)`
  await tx
    .updateTable('clients')
    .set({ expires_at: ofLicense('expires_at'), grace_days: ofLicense('grace_days') })
    .where('license_id', 'in', licenseIds)
    .where(foundInScope(scope, 'clients'))
    .execute()
}

/** Extends one end user and its first license; returns the new end that people see. */
export async function extendEndUser(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  days: number,
  now: number,
): Promise<number | null> {
  await extendEndUsers(tx, scope, [id], days, now)
  const client = await tx
    .selectFrom('clients')
    .select(['expires_at', 'grace_days'])
    .where('id', '=', id)
    .where(inScope(scope))
    .executeTakeFirstOrThrow()
  return toShownEnd(client)
}

/** Extends those of the end users that have an end, and their first licenses, not added keys; returns their ids. */
export async function extendEndUsers(
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  days: number,
  now: number,
): Promise<string[]> {
  // Licenses first, so that their counts are locked before those of end users. The columns are the end user's.
  const ofEndUser = sql`from clients c where c.id = licenses.client_id`
  await tx
    .updateTable('licenses')
    .set({ expires_at: sql<number>`(select ${extended(days, now)} ${ofEndUser})` })
    .where('client_id', 'in', clientIds)
    .where(foundInScope(scope, 'licenses'))
    .where(isFirstLicense)
    .where(sql<boolean>`(select c.expires_at ${ofEndUser}) <> ${never}`)
    .execute()
  const clients = await tx
    .updateTable('clients')
    .set({ expires_at: extended(days, now) })
    .where('id', 'in', clientIds)
    .where(foundInScope(scope, 'clients'))
    .where('expires_at', '<>', never)
    .returning('id')
    .execute()
  return clients.map(({ id }) => id)
}

/** Marks the licenses of end users as unused; the caller has locked them, and deletes the end users. */
export async function freeLicensesOf(
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  now: number,
): Promise<{ id: string; app_id: string }[]> {
  await takeBackFreed(tx, scope, clientIds, now)
  return tx
    .updateTable('licenses')
    .set({ used: 0, used_at: null, client_id: null, added_ms: null, taken_ms: null })
    .where('client_id', 'in', clientIds)
    .where(foundInScope(scope, 'licenses'))
    .returning(['id', 'app_id'])
    .execute()
}

/**
 * After licenses were deleted: an end user without its first license expires now, and one without an added key loses
 * what the key added. The end users stay.
 */
export async function expireUsersOf(
  tx: Tx,
  scope: OwnerScope,
  deleted: readonly AddedKey[],
  now: number,
): Promise<void> {
  const withUsers = deleted.filter((license) => license.client_id !== null)
  if (withUsers.length === 0) return
  const expired = await tx
    .updateTable('clients')
    .set({
      expires_at: sql`case when expires_at > ${now} then ${now} else expires_at end`,
      grace_days: 0,
      license_id: null,
    })
    .where(isIn(tx, 'license_id', ids(withUsers)))
    .where(foundInScope(scope, 'clients'))
    .returning('id')
    .execute()
  if (expired.length > 0) await forgetAddedTime(tx, scope, ids(expired))
  const gone = new Set(ids(expired))
  await takeBack(
    tx,
    scope,
    withUsers.filter((license) => !gone.has(license.client_id ?? '')),
    now,
  )
  await storeAddedRights(tx, scope, [...new Set(withUsers.flatMap(({ client_id }) => client_id ?? []))])
}

const isFirstLicense = sql<boolean>`id in (select c.license_id from clients c where c.id = licenses.client_id)`

const ids = (rows: readonly { id: string }[]): string[] => rows.map((row) => row.id)
