import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, inScope, lock, type Tx } from '../../db/index.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'

/** The license types of an app that the caller has checked to be the owner's, oldest first. */
export const listTypes = (db: Db, appId: string): Promise<LicenseTypeRow[]> =>
  db
    .selectFrom('license_types')
    .selectAll()
    .where('app_id', '=', appId)
    .orderBy('seq')
    .limit(limits.licenseTypesMax)
    .execute()

/** How many licenses were generated from each type of an app, counted up to `limits.searchCountMax`. */
export async function countLicenses(db: Db, appId: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; n: number }>`select t.id as id, (select count(*) from (
      select 1 from licenses l where l.type_id = t.id limit ${limits.searchCountMax}) counted) as n
    from license_types t where t.app_id = ${appId}`.execute(db)
  return new Map(rows.map(({ id, n }) => [id, n]))
}

export async function countTypes(db: Db, appId: string): Promise<number> {
  const { n } = await db
    .selectFrom('license_types')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** The newest license of a type that exists now. */
export async function lastLicenseSeq(db: Db, id: string): Promise<number> {
  const row = await db
    .selectFrom('licenses')
    .select('seq')
    .where('type_id', '=', id)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** Locks the row until the transaction ends. */
export const lockType = (tx: Tx, scope: OwnerScope, id: string): Promise<LicenseTypeRow | undefined> =>
  lock(
    tx,
    tx.selectFrom('license_types').selectAll().where('id', '=', id).where(inScope(scope)),
  ).executeTakeFirst()

export const findType = (tx: Tx, scope: OwnerScope, id: string): Promise<LicenseTypeRow | undefined> =>
  tx.selectFrom('license_types').selectAll().where('id', '=', id).where(inScope(scope)).executeTakeFirst()

export type NewType = Omit<LicenseTypeRow, 'seq'>

export async function insertType(tx: Tx, type: NewType): Promise<void> {
  await tx.insertInto('license_types').values(type).execute()
}

export async function updateType(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  columns: Omit<NewType, 'id' | 'owner_id' | 'app_id' | 'created_at'>,
): Promise<void> {
  await tx.updateTable('license_types').set(columns).where('id', '=', id).where(inScope(scope)).execute()
}

export async function updateUpgrades(
  tx: Tx,
  scope: OwnerScope,
  { id, upgrades }: Pick<LicenseTypeRow, 'id' | 'upgrades'>,
): Promise<void> {
  await tx.updateTable('license_types').set({ upgrades }).where('id', '=', id).where(inScope(scope)).execute()
}

export const deleteType = (tx: Tx, scope: OwnerScope, id: string): Promise<LicenseTypeRow | undefined> =>
  tx.deleteFrom('license_types').where('id', '=', id).where(inScope(scope)).returningAll().executeTakeFirst()
