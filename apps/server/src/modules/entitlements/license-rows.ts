import { type CompiledQuery, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { formsOfEmail } from '../../core/ids.ts'
import { type Db, foundInScope, inScope, isIn, lock, prepared, type Tx } from '../../db/index.ts'
import { held } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { rememberKeys } from './former-names.ts'

/** The columns of a new license; the others start empty. */
export type NewLicense = Omit<
  LicenseRow,
  'seq' | 'client_id' | 'used' | 'used_at' | 'key_twin' | 'updates_until'
>

const unused = { client_id: null, used_at: null }

export const insertOfLicenses = (db: Db, licenses: NewLicense[]): CompiledQuery =>
  prepared.insert(
    db,
    'licenses',
    licenses.map((license) => ({ ...license, ...unused })),
  )

export async function updateLicenses(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
  change: Partial<
    Pick<LicenseRow, 'banned' | 'ban_reason' | 'devices' | 'features' | 'note' | 'customer_id'>
  >,
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set(change)
    .where('id', 'in', ids)
    .where(foundInScope(scope, 'licenses'))
    .execute()
}

/** Gives licenses terms of a type besides their ends, which stay the same for people. */
export const updateTerms = (
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
  terms: Pick<LicenseRow, 'grace_days'> & Partial<LicenseRow>,
): Promise<Pick<LicenseRow, 'id' | 'client_id'>[]> =>
  tx
    .updateTable('licenses')
    .set({ ...terms, expires_at: withGrace(terms.grace_days) })
    .where('id', 'in', ids)
    .where(foundInScope(scope, 'licenses'))
    .returning(['id', 'client_id'])
    .execute()

/** The same end for people with other grace days. */
const withGrace = (graceDays: number) =>
  sql<number>`case when expires_at >= ${held} then expires_at
    else expires_at + (cast(${sql.lit(graceDays)} as bigint) - grace_days) * ${sql.lit(day)} end`

/** Sets the term of a license whose clock has not started. */
export async function setUnstartedTerm(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  term: Pick<LicenseRow, 'term' | 'duration_value' | 'duration_unit' | 'expires_at'>,
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set(term)
    .where('id', '=', id)
    .where(foundInScope(scope, 'licenses'))
    // A first use or a new date may come between reading the license and this statement.
    .where('started_at', 'is', null)
    .where('term', '=', 'first_use')
    .execute()
}

/** Writes the note of their reseller on licenses. */
export const setResellerNote = (tx: Tx, ids: readonly string[], note: string | null) =>
  tx
    .updateTable('licenses')
    .set({ reseller_note: note })
    .where(isIn(tx, 'id', ids))

/** Takes up to `count` licenses from a reseller, without deleting them, and returns how many. */
export async function takeFromReseller(
  tx: Tx,
  scope: OwnerScope,
  resellerId: string,
  count: number,
): Promise<number> {
  const some = tx
    .selectFrom('licenses')
    .select('id')
    .where('reseller_id', '=', resellerId)
    .where(inScope(scope))
    .limit(count)
  const taken = await tx
    .updateTable('licenses')
    .set({ reseller_id: null, reseller_note: null })
    // Other transactions lock licenses in the same order.
    .where('id', 'in', lock.all(tx, some))
    .returning('id')
    .execute()
  return taken.length
}

export interface SliceFilter {
  appId?: string | undefined
  resellerId?: string | undefined
  /** The highest number among the licenses that existed when the deletion started. */
  lastSeq: number
}

/** Up to `count` ids, unsorted. */
export async function listSlice(
  tx: Tx,
  scope: OwnerScope,
  { appId, resellerId, lastSeq }: SliceFilter,
  count: number,
): Promise<string[]> {
  let query = tx.selectFrom('licenses').select('id').where('seq', '<=', lastSeq).limit(count)
  if (resellerId !== undefined) query = query.where('reseller_id', '=', resellerId)
  query = appId === undefined ? query.where(inScope(scope)) : query.where('app_id', '=', appId)
  return (await query.execute()).map(({ id }) => id)
}

/** Deletes licenses, and returns how many there were. */
export async function deleteByIds(tx: Tx, scope: OwnerScope, ids: readonly string[]): Promise<number> {
  const deleted = await tx
    .deleteFrom('licenses')
    .where(isIn(tx, 'id', ids))
    .where(foundInScope(scope, 'licenses'))
    .returning(['app_id', 'key_normalized'])
    .execute()
  await rememberKeys(tx, deleted)
  return deleted.length
}

/** Takes a license from its customer, and removes notes that contain the customer's address, normalized. */
export async function takeFromCustomer(tx: Tx, scope: OwnerScope, id: string, email: string): Promise<void> {
  const license = tx
    .selectFrom('licenses')
    .select(['note', 'reseller_note'])
    .where('id', '=', id)
    .where(inScope(scope))
  const { note = null, reseller_note = null } = (await license.executeTakeFirst()) ?? {}
  const unlessNamed = (text: string | null) =>
    formsOfEmail(email).some((form) => text?.toLowerCase().includes(form)) ? null : text
  await tx
    .updateTable('licenses')
    .set({ customer_id: null, note: unlessNamed(note), reseller_note: unlessNamed(reseller_note) })
    .where('id', '=', id)
    .where(inScope(scope))
    .execute()
}

/** Licenses, and end users with theirs. */
export interface Which {
  licenses?: readonly string[]
  clients?: readonly string[]
}

/**
 * Locks licenses, those of end users, and the other licenses of their end users until the transaction ends: a change of one
 * can change the end of another.
 */
export const lockLicensesOf = (
  tx: Tx,
  scope: OwnerScope,
  { licenses = [], clients = [] }: Which,
): Promise<void> =>
  lock.ahead(tx, () => {
    const users = tx
      .selectFrom('licenses as u')
      .select('u.client_id')
      .where(isIn(tx, 'u.id', licenses))
      .where('u.client_id', 'is not', null)
    const all = tx
      .selectFrom('licenses')
      .select('id')
      .where(({ or }) =>
        or([
          isIn(tx, 'id', licenses),
          isIn(tx, 'client_id', clients),
          sql<boolean>`client_id = any(array(${users}))`,
        ]),
      )
      .where(foundInScope(scope, 'licenses'))
    return lock.all(tx, all)
  })
