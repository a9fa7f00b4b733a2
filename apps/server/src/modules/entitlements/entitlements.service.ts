import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { licenseColumns } from '../../db/columns.ts'
import { foundInScope, inScope, isIn, prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
import { accessEnd, displayedEnd, never } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { termColumns } from './access.rules.ts'
import { pausedFrom, withdrawKeys, withoutKeys } from './grants.changes.ts'
import { changeAccess } from './grants.ts'
import { atFirstUse } from './terms.rules.ts'

// A license and its end user share an end and a redemption. Always lock licenses before end users: the opposite order
// deadlocks.

type Redeemable = Parameters<typeof atFirstUse>[0] & Pick<LicenseRow, 'id'>
type Write = Pick<WriteTransaction, 'tx' | 'now'>

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
  await prepared.update(tx, 'licenses', { client_id: clientId }, { id: licenseId, scope }).later()
}

/**
 * Sets the first license of an end user whose former one was deleted. The time that the end user has got since is added
 * to that of the license; keys that were added go on. Returns when access ends then, for people; null for never.
 */
export async function setFirstLicense(
  write: Write,
  scope: OwnerScope,
  license: LicenseRow,
  client: { id: string; leftMs: number },
): Promise<number | null> {
  const { tx, now } = write
  await tx
    .updateTable('clients')
    .set({ license_id: license.id, expires_at: license.expires_at, grace_days: license.grace_days })
    .where('id', '=', client.id)
    .where(inScope(scope))
    .execute()
  await tx
    .updateTable('grants')
    .set({ license_id: license.id, client_id: null })
    .where('client_id', '=', client.id)
    .where(foundInScope(scope, 'grants'))
    .execute()
  const end = displayedEnd(license, now)
  const [changed] = await changeAccess(write, scope, { licenses: [license.id] }, ({ access, grants }) => {
    if (grants.length === 0 && client.leftMs === 0) return undefined
    const own = { kind: 'term', source_kind: 'key', source_id: license.id } as const
    const terms = termColumns(license)
    if (end === null || client.leftMs === never)
      return { added: [{ ...own, until: null, terms: JSON.stringify({ ...terms, term: 'forever' }) }] }
    const moved_ms = client.leftMs - access.addedMs
    const left = { kind: 'time', moved_ms, source_kind: 'program', source_id: null } as const
    return { added: [{ ...own, until: end, terms: JSON.stringify(terms) }, left] }
  })
  return changed ? displayedEnd(changed.after.access, now) : end
}

/** Marks the licenses of end users as unused; the caller deletes the end users next. Added keys take along the time that they have. */
export async function freeLicensesOf(
  write: Write,
  scope: OwnerScope,
  clientIds: readonly string[],
): Promise<{ id: string; app_id: string }[]> {
  const { tx, now } = write
  const keys = await tx
    .selectFrom('licenses')
    .select(['id', 'client_id', 'expires_at', 'grace_days'])
    .where(isIn(tx, 'client_id', clientIds))
    .where(foundInScope(scope, 'licenses'))
    .execute()
  const ids = new Set(keys.map(({ id }) => id))
  const left = new Map(keys.map((key) => [key.id, Math.max(0, (displayedEnd(key, now) ?? never) - now)]))
  await changeAccess(write, scope, { clients: clientIds }, (holder) => {
    const { changed = [] } = withoutKeys(holder, ids, now, left)
    const resumed = pausedFrom(holder, false, now, { source_kind: 'program', source_id: null })
    return { changed: [...changed, ...(resumed.changed ?? [])] }
  })
  return tx
    .updateTable('licenses')
    .set({ used: 0, used_at: null, client_id: null })
    .where('client_id', 'in', clientIds)
    .where(foundInScope(scope, 'licenses'))
    .returning(['id', 'app_id'])
    .execute()
}

/**
 * Before licenses are deleted, which the caller has locked: an end user without its first license ends now, and one
 * without an added key loses what the key added. The end users stay.
 */
export async function expireUsersOf(write: Write, scope: OwnerScope, ids: readonly string[]): Promise<void> {
  const { tx, now } = write
  await withdrawKeys(
    write,
    scope,
    ids.map((id) => ({ id, client_id: null })),
  )
  // What the first license was granted goes on as the end user's.
  await tx
    .updateTable('grants')
    .set({
      client_id: sql<string>`(select c.id from clients c where c.license_id = grants.license_id)`,
      license_id: null,
    })
    .where(isIn(tx, 'license_id', ids))
    .where(foundInScope(scope, 'grants'))
    .where(sql<boolean>`exists (select 1 from clients c where c.license_id = grants.license_id)`)
    .execute()
  const users = await tx
    .updateTable('clients')
    .set({ license_id: null, grace_days: 0 })
    .where(isIn(tx, 'license_id', ids))
    .where(foundInScope(scope, 'clients'))
    .returning('id')
    .execute()
  if (users.length === 0) return
  const clients = users.map(({ id }) => id).sort()
  await changeAccess(write, scope, { clients }, ({ client }) => {
    const end = Math.min(now, client ? accessEnd(client, now) : now)
    return { added: [{ kind: 'end', until: end, source_kind: 'key', source_id: null }] }
  })
}
