import { isDeepStrictEqual } from 'node:util'
import type { License } from '@keyward/contract'
import { allApps, type OwnerScope, type VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Db, WriteTransaction } from '../../db/index.ts'
import { accessEnd, displayedEnd } from '../../db/stored-end.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { changeAccess, type Holder, readHolders, sourceOf } from '../entitlements/grants.ts'
import { updateTerms } from '../entitlements/license-rows.ts'
import { toDuration } from '../entitlements/terms.rules.ts'
import { readTypeOf } from '../license-types/license-types.access.ts'
import { type Typed, type TypeEnd, takeType } from '../license-types/type-of-license.rules.ts'
import { usersOf } from './licenses.access.ts'
import * as repo from './licenses.repo.ts'
import { type LicenseTerms, toLicense, toTermsFields } from './licenses.rules.ts'

interface Taken extends Typed {
  license: repo.LicenseView
  type: LicenseTypeRow
}

/** What a license becomes when it takes a type of its app. */
export async function takenBy(
  db: Db,
  scope: OwnerScope,
  holder: Holder,
  type: LicenseTypeRow,
  { end, now }: { end: TypeEnd; now: number },
): Promise<Taken> {
  const found = await repo.findLicense(db, scope, holder.id)
  if (!found) throw problem('not_found')
  const license = { ...found, expires_at: accessEnd(found, now), left_ms: null }
  return { license, type, ...takeType(license, type, { end, holder, now }) }
}

/** The license as it would be after it takes a type. */
export async function previewType(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  typeId: string,
  end: TypeEnd,
): Promise<License> {
  const now = ctx.clock.now()
  const [holder] = await readHolders(ctx.db, actor, { licenses: [id] })
  if (!holder?.license) throw problem('not_found')
  const type = await readTypeOf(ctx.db, actor, holder.license.app_id, typeId)
  const { columns, license: current } = await takenBy(ctx.db, actor, holder, type, { end, now })
  return toLicense(ctx, { ...current, ...columns, type_name: type.name }, now)
}

/** Whether the license already is as the change makes it. */
export const isTyped = ({ license, columns, changesHidden }: Taken): boolean =>
  !changesHidden &&
  Object.entries(columns).every(([name, value]) => license[name as keyof LicenseTerms] === value)

/** Gives a locked license its new type. Time that added keys gave still counts. */
export async function changeType(
  write: WriteTransaction,
  actor: OwnerScope,
  taken: Taken,
  source = sourceOf(write.actor),
): Promise<void> {
  const { license, type, columns, granted } = taken
  const { term: _, duration_value: __, duration_unit: ___, expires_at: ____, ...others } = columns
  await updateTerms(write.tx, actor, [license.id], others)
  await changeAccess(
    write,
    actor,
    { licenses: [license.id] },
    () => granted && { added: [{ ...granted, ...source }] },
  )
  if (license.added === 1) await changeAccess(write, actor, { clients: usersOf([license]) })
  const [before, after] = [fieldsOf(license, license.type_name), fieldsOf(columns, type.name)]
  const names = Object.keys(after).filter(
    (name) => !isDeepStrictEqual(before[name as keyof Fields], after[name as keyof Fields]),
  )
  const only = (fields: Fields) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name))) as Partial<Fields>
  write.record('license.updated', license.id, { before: only(before), after: only(after) }, license.app_id)
  const ends = { before: displayedEnd(license, write.now), after: displayedEnd(columns, write.now) }
  if (ends.before === ends.after) return
  write.record('license.expiry_changed', license.id, ends, license.app_id)
}

/** Gives a locked license another type, and the end of that type, because of an order. The type was locked before it. */
export async function giveType(
  write: WriteTransaction,
  holder: Holder,
  type: LicenseTypeRow,
  source: ReturnType<typeof sourceOf>,
): Promise<void> {
  const scope = allApps(type.owner_id)
  const taken = await takenBy(write.tx, scope, holder, type, { end: 'type', now: write.now })
  await changeType(write, scope, taken, source)
}

const fieldsOf = (row: LicenseTerms, type: string | null) => ({
  type,
  term: row.term,
  duration: toDuration(row),
  ...toTermsFields(row),
})
type Fields = ReturnType<typeof fieldsOf>
