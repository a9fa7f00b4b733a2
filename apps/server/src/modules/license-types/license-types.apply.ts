import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, type Tx, type WriteTransaction } from '../../db/index.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import { changeAccess, sourceOf } from '../entitlements/grants.ts'
import { lockLicensesOf, setUnstartedTerm, updateTerms } from '../entitlements/license-rows.ts'
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
  write: WriteTransaction,
  scope: OwnerScope,
  type: LicenseTypeRow,
  licenses: readonly ExistingLicense[],
): Promise<number> {
  const { tx } = write
  if (licenses.length === 0) return 0
  await lockLicensesOf(tx, scope, { licenses: idsOf(licenses) })
  const { devices, seats, seat_timeout_seconds, features, updates_for_days, grace_days } = type
  const terms = { devices, seats, seat_timeout_seconds, features, updates_for_days, grace_days }
  const changed = await updateTerms(tx, scope, idsOf(licenses), terms)
  const waiting = licenses.filter((license) => license.term === 'first_use' && license.started_at === null)
  const unstarted = new Map(waiting.map((license) => [license.id, toTerm(type, license.created_at)]))
  for (const [id, term] of unstarted) await setUnstartedTerm(tx, scope, id, term)
  await changeAccess(write, scope, { licenses: [...unstarted.keys()] }, ({ id, grants, license }) => {
    const { expires_at, ...term } = unstarted.get(id) ?? {}
    if (grants.length === 0 || license?.started_at !== null || expires_at === undefined) return undefined
    const until = displayedEnd({ expires_at, grace_days: type.grace_days }, write.now)
    return { added: [{ kind: 'term', until, terms: JSON.stringify(term), ...sourceOf(write.actor) }] }
  })
  await changeAccess(write, scope, { clients: [...new Set(usersOf(changed))] })
  return changed.length
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map((row) => row.id)
