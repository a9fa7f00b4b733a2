import type { OwnerScope } from '../../core/actor.ts'
import { ownerOf, type Tx } from '../../db/index.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import { storeAddedRights } from '../entitlements/added-rights.ts'
import { copyEndsToUsers } from '../entitlements/entitlements.service.ts'
import { applyTypeTo, setUnstartedTerm } from '../entitlements/license-rows.ts'
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
  const changed = await applyTypeTo(tx, scope, type, idsOf(sold))
  for (const license of sold) {
    if (license.term !== 'first_use' || license.started_at !== null) continue
    await setUnstartedTerm(tx, scope, license.id, toTerm(type, license.created_at))
  }
  await copyEndsToUsers(tx, scope, idsOf(changed))
  await storeAddedRights(tx, scope, [...new Set(usersOf(changed))])
  return changed.length
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map((row) => row.id)
