import type { OwnerScope } from '../../core/actor.ts'
import { type Db, foundInScope, inScope, type Tx } from '../../db/index.ts'
import { never } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { storeAddedRights } from './added-rights.ts'
import { copyEndsToUsers } from './entitlements.service.ts'

/** What the keys that `upgrade` added give to the end of their end user's first license. */
export interface AddedTime {
  ms: number
  /** The end that they removed; null if none did. */
  hiddenEnd: number | null
}

/** The columns that a license takes from a type. */
export type TypedColumns = Pick<
  LicenseRow,
  | 'type_id'
  | 'term'
  | 'duration_value'
  | 'duration_unit'
  | 'started_at'
  | 'expires_at'
  | 'grace_days'
  | 'devices'
  | 'seats'
  | 'seat_timeout_seconds'
  | 'features'
  | 'updates_for_days'
  | 'trial'
>

type Used = Pick<LicenseRow, 'id' | 'client_id' | 'added_ms'>

/** The time that added keys give to a license; none to an added key itself. */
export async function addedTimeOf(db: Db, scope: OwnerScope, license: Used): Promise<AddedTime> {
  if (license.client_id === null || license.added_ms !== null) return { ms: 0, hiddenEnd: null }
  const rows = await db
    .selectFrom('licenses')
    .select('added_ms')
    .where('client_id', '=', license.client_id)
    .where('id', '<>', license.id)
    .where('added_ms', 'is not', null)
    .where('taken_ms', 'is', null)
    .where(inScope(scope))
    .execute()
  const times = rows.map((row) => Number(row.added_ms))
  const removed = times.find((ms) => ms < 0)
  return {
    ms: times.filter((ms) => ms > 0).reduce((sum, ms) => sum + ms, 0),
    hiddenEnd: removed === undefined ? null : -removed,
  }
}

/**
 * Gives a license the columns of its new type, and its end user the end and the rights that follow. Time that added keys
 * gave still counts. The caller has locked the licenses of the end user.
 */
export async function storeTyped(
  tx: Tx,
  scope: OwnerScope,
  license: Used,
  columns: TypedColumns,
  /** The end that comes back when the keys that removed it are banned or deleted, unless the license never ends itself. */
  hiddenEnd: number | null,
): Promise<void> {
  await tx.updateTable('licenses').set(columns).where('id', '=', license.id).where(inScope(scope)).execute()
  if (license.client_id === null) return
  if (hiddenEnd !== null) {
    await tx
      .updateTable('licenses')
      .set({ added_ms: hiddenEnd === never ? 0 : -hiddenEnd })
      .where('client_id', '=', license.client_id)
      .where('added_ms', '<', 0)
      .where(foundInScope(scope, 'licenses'))
      .execute()
  }
  await copyEndsToUsers(tx, scope, [license.id])
  await storeAddedRights(tx, scope, [license.client_id])
}
