import { sql } from 'kysely'
import { day, lastInstant } from '../../core/clock.ts'
import type { Tx } from '../../db/open.ts'

// A license and the end user who uses it belong together: what changes one of them changes the other,
// in the same transaction. Callers have checked whose they are.
// Where both change, licenses are locked before end users, so that two changes at once wait for each other
// instead of blocking each other.

/** Uses a license up for an end user. Of many callers at once exactly one gets `true`. */
export async function redeem(tx: Tx, licenseId: string, clientId: string, now: number): Promise<boolean> {
  const won = await tx
    .updateTable('licenses')
    .set({ used: 1, used_at: now, client_id: clientId })
    .where('id', '=', licenseId)
    .where('used', '=', 0)
    .returning('id')
    .executeTakeFirst()
  return won !== undefined
}

/** Makes a license the first one of an end user who has none any more; its expiry is theirs from now on. */
export async function adopt(
  tx: Tx,
  license: { id: string; expires_at: number },
  clientId: string,
): Promise<void> {
  await tx
    .updateTable('clients')
    .set({ license_id: license.id, expires_at: license.expires_at })
    .where('id', '=', clientId)
    .execute()
}

/** Sets the one expiry that an end user and its first license share; a key added later keeps its own. */
export async function setClientExpiry(tx: Tx, clientId: string, expiresAt: number): Promise<void> {
  const client = await tx
    .updateTable('clients')
    .set({ expires_at: expiresAt })
    .where('id', '=', clientId)
    .returning('license_id')
    .executeTakeFirst()
  if (client?.license_id == null) return
  await tx
    .updateTable('licenses')
    .set({ expires_at: expiresAt })
    .where('id', '=', client.license_id)
    .where('client_id', '=', clientId)
    .execute()
}

/** Sets a license's expiry, and that of the end user whose first license it is. */
export async function setLicenseExpiry(tx: Tx, licenseId: string, expiresAt: number): Promise<void> {
  await tx.updateTable('licenses').set({ expires_at: expiresAt }).where('id', '=', licenseId).execute()
  await tx.updateTable('clients').set({ expires_at: expiresAt }).where('license_id', '=', licenseId).execute()
}

/** Days added to what is left, or to now when nothing is; time ends with the year 9999. */
function extended(days: number, now: number) {
  const span = days * day
  return sql<number>`case
    when expires_at > ${lastInstant - span} then ${lastInstant}
    when expires_at > ${now} then expires_at + ${span}
    else ${now + span} end`
}

/** Extends licenses, and the end users whose first licenses they are. */
export async function extendLicenses(
  tx: Tx,
  licenseIds: readonly string[],
  days: number,
  now: number,
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set({ expires_at: extended(days, now) })
    .where('id', 'in', licenseIds)
    .execute()
  await tx
    .updateTable('clients')
    .set({
      expires_at: sql<number>`(select l.expires_at from licenses l where l.id = clients.license_id)`,
    })
    .where('license_id', 'in', licenseIds)
    .execute()
}

/** Extends one end user and its first license; returns the new expiry. */
export async function extendClient(tx: Tx, id: string, days: number, now: number): Promise<number> {
  await extendClients(tx, [id], days, now)
  const { expires_at } = await tx
    .selectFrom('clients')
    .select('expires_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return expires_at
}

/** Extends end users and their first licenses; a key added later keeps its own expiry. */
export async function extendClients(
  tx: Tx,
  clientIds: readonly string[],
  days: number,
  now: number,
): Promise<void> {
  await tx
    .updateTable('clients')
    .set({ expires_at: extended(days, now) })
    .where('id', 'in', clientIds)
    .execute()
  await tx
    .updateTable('licenses')
    .set({
      expires_at: sql<number>`(select c.expires_at from clients c where c.id = licenses.client_id)`,
    })
    .where('client_id', 'in', clientIds)
    .where(sql<boolean>`id in (select c.license_id from clients c where c.id = licenses.client_id)`)
    .execute()
}

/** Locks the licenses of end users until the transaction ends. */
export async function lockLicensesOf(tx: Tx, clientIds: readonly string[]): Promise<void> {
  await tx
    .updateTable('licenses')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('client_id', 'in', clientIds)
    .execute()
}

/** Frees the licenses of end users who are about to go. */
export async function release(tx: Tx, clientIds: readonly string[]): Promise<void> {
  await tx
    .updateTable('licenses')
    .set({ used: 0, used_at: null, client_id: null })
    .where('client_id', 'in', clientIds)
    .execute()
}

/** Ends the time of the end users whose licenses have just been deleted; the end users stay. */
export async function expireUsersOf(
  tx: Tx,
  gone: readonly { id: string; client_id: string | null }[],
  now: number,
): Promise<void> {
  const users = gone.map((license) => license.client_id).filter((id) => id !== null)
  if (users.length === 0) return
  const ended = await tx
    .updateTable('clients')
    .set({ expires_at: now })
    .where('id', 'in', users)
    .where('expires_at', '>', now)
    .returning('license_id')
    .execute()
  const firstLicenses = ended.map((client) => client.license_id).filter((id) => id !== null)
  if (firstLicenses.length > 0) {
    await tx.updateTable('licenses').set({ expires_at: now }).where('id', 'in', firstLicenses).execute()
  }
  const licenseIds = gone.map((license) => license.id)
  await tx.updateTable('clients').set({ license_id: null }).where('license_id', 'in', licenseIds).execute()
}
