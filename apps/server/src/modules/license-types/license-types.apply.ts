import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, type Tx } from '../../db/index.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import { storeAddedRights } from '../entitlements/added-rights.ts'
import { copyEndsToUsers } from '../entitlements/entitlements.service.ts'
import { applyTypeTo, setUnstartedTerm } from '../entitlements/license-rows.ts'
import { usersOf } from '../licenses/licenses.access.ts'
import { toTerm } from './license-types.rules.ts'

type ExistingLicense = Pick<LicenseRow, 'id' | 'seq' | 'created_at' | 'term' | 'started_at'>

/** The next licenses of a type, oldest first. */
export const listLicenseSlice = (
  tx: Tx,
  scope: OwnerScope,
  typeId: string,
  { after, lastSeq, size }: { after: number; lastSeq: number; size: number },
): Promise<ExistingLicense[]> =>
  tx
    .selectFrom('licenses')
    .select(['id', 'seq', 'created_at', 'term', 'started_at'])
    .where('type_id', '=', typeId)
    .where(foundInScope(scope, 'licenses'))
    .where('seq', '>', after)
    .where('seq', '<=', lastSeq)
    .orderBy('seq')
    .limit(size)
    .execute()

/** Gives existing licenses the type's present terms, and their end users the new end of access; returns how many. */
export async function applyType(
  tx: Tx,
  scope: OwnerScope,
  type: LicenseTypeRow,
  licenses: readonly ExistingLicense[],
): Promise<number> {
  if (licenses.length === 0) return 0
  const changed = await applyTypeTo(tx, scope, type, idsOf(licenses))
  for (const license of licenses) {
    if (license.term !== 'first_use' || license.started_at !== null) continue
    await setUnstartedTerm(tx, scope, license.id, toTerm(type, license.created_at))
  }
  await copyEndsToUsers(tx, scope, idsOf(changed))
  await storeAddedRights(tx, scope, [...new Set(usersOf(changed))])
  return changed.length
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map((row) => row.id)
