import type { OwnerScope } from '../../core/actor.ts'
import { newSigningKey } from '../../core/signing/signing.ts'
import { type Db, inScope, type Tx } from '../../db/index.ts'
import type { CompatibilityRow } from '../../db/tables.ts'
import type { LostKey, LostKeyReport } from '../description.ts'
import { keyContext, newSecret, secretContext, toHex } from './compatibility.rules.ts'

export const findOfApp = (db: Db, scope: OwnerScope, appId: string): Promise<CompatibilityRow | undefined> =>
  db
    .selectFrom('compatibility')
    .selectAll()
    .where('app_id', '=', appId)
    .where(inScope(scope))
    .executeTakeFirst()

/** Saves the row of an app that the transaction has locked. */
export async function save(tx: Tx, row: CompatibilityRow): Promise<void> {
  const { app_id: _app, owner_id: _owner, last_used_at: _used, ...change } = row
  await tx
    .insertInto('compatibility')
    .values(row)
    .onConflict((conflict) => conflict.column('app_id').doUpdateSet(change))
    .execute()
}

export async function countPrograms(db: Db, appId: string, now: number): Promise<number> {
  const { count } = await db
    .selectFrom('compatibility_programs')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('app_id', '=', appId)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(count)
}

// Programs were found by what the server read of their sessions, so these functions take no scope.

export async function savePrograms(
  tx: Tx,
  programs: readonly { app_id: string; program: string; expires_at: number }[],
): Promise<void> {
  await tx
    .insertInto('compatibility_programs')
    .values([...programs])
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'program'])
        .doUpdateSet(({ ref }) => ({ expires_at: ref('excluded.expires_at') })),
    )
    .execute()
}

/** Notes that programs use apps, whose names stay their vendors' from then on. */
export async function noteUse(tx: Tx, appIds: readonly string[], now: number): Promise<void> {
  const used = await tx
    .updateTable('compatibility')
    .set({ last_used_at: now })
    .where('app_id', 'in', appIds)
    .returning(['owner_ref', 'name', 'owner_id as used_by'])
    .execute()
  if (used.length === 0) return
  await tx
    .insertInto('compatibility_names')
    .values(used)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Whether programs of another vendor's customers have sent this name. */
export async function isUsedByOther(
  db: Db,
  { owner_ref, name, owner_id }: Pick<CompatibilityRow, 'owner_ref' | 'name' | 'owner_id'>,
): Promise<boolean> {
  const found = await db
    .selectFrom('compatibility_names')
    .select('used_by')
    .where('owner_ref', '=', owner_ref)
    .where('name', '=', name)
    .executeTakeFirst()
  return found !== undefined && found.used_by !== owner_id
}

/** What an answer says of an end user besides the end user itself. */
export const readSignedIn = (db: Db, clientId: string) =>
  db
    .selectFrom('clients')
    .leftJoin('licenses', 'licenses.id', 'clients.license_id')
    .select(['clients.hwid', 'clients.expires_at', 'clients.left_ms', 'licenses.key'])
    .where('clients.id', '=', clientId)
    .executeTakeFirst()

/** Replaces what a lost secret key sealed. */
export async function loseKey({ tx, seal }: LostKey): Promise<Pick<LostKeyReport, 'otherPrograms'>> {
  const rows = await tx.selectFrom('compatibility').select('app_id').execute()
  for (const { app_id } of rows) {
    const key = newSigningKey()
    await tx
      .updateTable('compatibility')
      .set({
        secret_sealed: seal.seal(newSecret(), secretContext(app_id)),
        public_key: toHex(key.x),
        key_sealed: seal.seal(key.privateKey, keyContext(app_id)),
      })
      .where('app_id', '=', app_id)
      .execute()
  }
  // Its hashes have a key that is lost; it fills again.
  await tx.deleteFrom('compatibility_programs').execute()
  return { otherPrograms: rows.map(({ app_id }) => app_id) }
}
