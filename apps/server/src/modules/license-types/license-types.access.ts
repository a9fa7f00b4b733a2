import type { OwnerScope } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { type Db, inScope, lock, type Tx } from '../../db/index.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import { listTypes } from './license-types.repo.ts'
import { termsOf } from './license-types.rules.ts'

/** The fields of licenses that are generated from a type now. */
export async function draftOf(tx: Tx, scope: OwnerScope, appId: string, id: string, now: number) {
  const type = await getTypeOf(tx, scope, appId, id)
  return { terms: termsOf(type, now), keyPrefix: type.key_prefix, type }
}

/** Locks a type until the transaction ends: no license is generated from what a change has just replaced. */
export async function getTypeOf(
  tx: Tx,
  scope: OwnerScope,
  appId: string,
  id: string,
): Promise<LicenseTypeRow> {
  const type = await lock.shared(tx, ofApp(tx, scope, appId, id)).executeTakeFirst()
  if (!type) throw typeGone()
  return type
}

/** Like `getTypeOf`, without a lock. */
export async function readTypeOf(
  db: Db,
  scope: OwnerScope,
  appId: string,
  id: string,
): Promise<LicenseTypeRow> {
  const type = await findTypeOf(db, scope, appId, id)
  if (!type) throw typeGone()
  return type
}

/** Like `readTypeOf`; undefined without such a type. */
export const findTypeOf = (
  db: Db,
  scope: OwnerScope,
  appId: string,
  id: string,
): Promise<LicenseTypeRow | undefined> => ofApp(db, scope, appId, id).executeTakeFirst()

const ofApp = (db: Db, scope: OwnerScope, appId: string, id: string) =>
  db
    .selectFrom('license_types')
    .selectAll()
    .where('id', '=', id)
    .where('app_id', '=', appId)
    .where(inScope(scope))

/** The oldest trial type of an app, or the given one. */
export async function findTrialType(
  tx: Tx,
  scope: OwnerScope,
  appId: string,
  id: string | undefined,
): Promise<LicenseTypeRow> {
  const query = tx
    .selectFrom('license_types')
    .selectAll()
    .where('app_id', '=', appId)
    .where(inScope(scope))
    .where('trial', '=', 1)
    .orderBy('seq')
  const type = await (id === undefined ? query : query.where('id', '=', id)).executeTakeFirst()
  if (!type) throw problem('not_found', { message: 'This application has no such trial' })
  return type
}

export const typeGone = () => problem('not_found', { message: 'License type not found' })

/** The license types of an app, which the caller has checked to be the owner's, by their names in lower case. */
export const readTypesByName = async (db: Db, appId: string): Promise<ReadonlyMap<string, LicenseTypeRow>> =>
  new Map((await listTypes(db, appId)).map((type) => [type.name.toLowerCase(), type]))

export const readTypesById = async (db: Db, appId: string): Promise<ReadonlyMap<string, LicenseTypeRow>> =>
  new Map((await listTypes(db, appId)).map((type) => [type.id, type]))
