import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { never } from '../../db/ends.ts'
import { ownerOf, type Tx } from '../../db/open.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import { storeAddedRights } from '../entitlements/added-rights.ts'
import { copyEndsToUsers } from '../entitlements/entitlements.service.ts'
import { usersOf } from '../licenses/licenses.access.ts'
import { toTerm } from './license-types.rules.ts'

type Sold = Pick<LicenseRow, 'id' | 'seq' | 'created_at' | 'term' | 'started_at'>

/** The next licenses of a type, oldest first. */
export const listSoldSlice = (
  tx: Tx,
  scope: OwnerScope,
  typeId: string,
  { after, lastSeq, size }: { after: number; lastSeq: number; size: number },
): Promise<Sold[]> =>
  tx
    .selectFrom('licenses')
    .select(['id', 'seq', 'created_at', 'term', 'started_at'])
    .where('type_id', '=', typeId)
    .where(ownerOf('licenses'), '=', scope.ownerId)
    .where('seq', '>', after)
    .where('seq', '<=', lastSeq)
    .orderBy('seq')
    .limit(size)
    .execute()

/** Gives sold licenses what the type has now, and their end users the new end of access; returns how many. */
export async function applyType(
  tx: Tx,
  scope: OwnerScope,
  type: LicenseTypeRow,
  sold: readonly Sold[],
): Promise<number> {
  if (sold.length === 0) return 0
  const grace = sql.lit(type.grace_days)
  const changed = await tx
    .updateTable('licenses')
    .set({
      devices: type.devices,
      seats: type.seats,
      seat_timeout_seconds: type.seat_timeout_seconds,
      features: type.features,
      updates_for_days: type.updates_for_days,
      grace_days: type.grace_days,
      expires_at: sql<number>`case when expires_at = ${never} then expires_at
        else expires_at + (cast(${grace} as bigint) - grace_days) * ${sql.lit(day)} end`,
    })
    .where('id', 'in', idsOf(sold))
    .where(ownerOf('licenses'), '=', scope.ownerId)
    .returning(['id', 'client_id'])
    .execute()
  for (const license of sold) {
    if (license.term !== 'first_use' || license.started_at !== null) continue
    await tx
      .updateTable('licenses')
      .set(toTerm(type, license.created_at))
      .where('id', '=', license.id)
      .where(ownerOf('licenses'), '=', scope.ownerId)
      // A first use or a new date may come between reading the slice and this statement.
      .where('started_at', 'is', null)
      .where('term', '=', 'first_use')
      .execute()
  }
  await copyEndsToUsers(tx, scope, idsOf(changed))
  await storeAddedRights(tx, scope, [...new Set(usersOf(changed))])
  return changed.length
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map((row) => row.id)
