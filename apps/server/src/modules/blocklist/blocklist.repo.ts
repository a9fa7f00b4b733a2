import type { ProgramHash } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { orderOf, type Page, seek } from '../../core/paging.ts'
import { type Db, inScope, type Tx } from '../../db/index.ts'
import type { BlockRow } from '../../db/tables.ts'

export type NewBlock = Omit<BlockRow, 'seq'>

/** A page of an app's block list, newest first, and its size. The caller has checked the app's owner. */
export async function pageBlocks(
  db: Db,
  appId: string,
  page: Page,
): Promise<{ rows: BlockRow[]; total: number }> {
  const total = await countBlocks(db, appId)
  const target = seek(page, total, 'newest')
  if (!target) return { rows: [], total }
  const rows = await db
    .selectFrom('blocklist')
    .selectAll()
    .where('app_id', '=', appId)
    .orderBy('seq', target.order)
    .limit(target.limit)
    .offset(target.offset)
    .execute()
  return { rows: target.order === orderOf.newest ? rows : rows.reverse(), total }
}

export async function countBlocks(db: Db, appId: string): Promise<number> {
  const { n } = await db
    .selectFrom('blocklist')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Inserts entries that are not on the list yet and returns them. */
export const insertBlocks = (tx: Tx, blocks: readonly NewBlock[]): Promise<BlockRow[]> =>
  tx
    .insertInto('blocklist')
    .values([...blocks])
    .onConflict((conflict) => conflict.columns(['app_id', 'kind', 'value_key']).doNothing())
    .returningAll()
    .execute()

export const deleteBlock = (tx: Tx, scope: OwnerScope, id: string): Promise<BlockRow | undefined> =>
  tx.deleteFrom('blocklist').where('id', '=', id).where(inScope(scope)).returningAll().executeTakeFirst()

export const findBlock = (db: Db, scope: OwnerScope, id: string): Promise<BlockRow | undefined> =>
  db.selectFrom('blocklist').selectAll().where('id', '=', id).where(inScope(scope)).executeTakeFirst()

export const listHashes = (db: Db, appId: string): Promise<ProgramHash[]> =>
  db
    .selectFrom('program_hashes')
    .select(['version', 'hash'])
    .where('app_id', '=', appId)
    .orderBy('position')
    .execute()

export async function replaceHashes(tx: Tx, appId: string, hashes: readonly ProgramHash[]): Promise<void> {
  await tx.deleteFrom('program_hashes').where('app_id', '=', appId).execute()
  if (hashes.length === 0) return
  const rows = hashes.map(({ version, hash }, position) => ({ app_id: appId, version, hash, position }))
  await tx.insertInto('program_hashes').values(rows).execute()
}
