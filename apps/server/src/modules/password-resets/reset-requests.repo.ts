import { prepared, type Tx } from '../../db/index.ts'
import type { ResetRequestRow } from '../../db/tables.ts'
import type { LostKey, LostKeyReport } from '../description.ts'

// Requests of strangers, which belong to nobody yet, so these functions take no scope.

export async function insertRequest(tx: Tx, row: ResetRequestRow): Promise<void> {
  await prepared.insert(tx, 'reset_requests', [row]).later()
}

export const findDue = prepared((db, values: { now: number }) =>
  db.selectFrom('reset_requests').select('id').where('due_at', '<=', values.now).limit(1),
)

/** Claims the oldest due requests of a network until `until`. Another node may have claimed some of them meanwhile. */
export function claim(
  tx: Tx,
  network: string,
  { now, until, count }: { now: number; until: number; count: number },
): Promise<ResetRequestRow[]> {
  const oldest = tx
    .selectFrom('reset_requests')
    .select('id')
    .where('network', '=', network)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(count)
  return tx
    .updateTable('reset_requests')
    .set({ due_at: until })
    .where('id', 'in', oldest)
    .where('due_at', '<=', now)
    .returningAll()
    .execute()
}

/** Takes a request; false if another node has taken it, which happens after a claim has ended. */
export async function takeRequest(tx: Tx, id: string): Promise<boolean> {
  const taken = await tx.deleteFrom('reset_requests').where('id', '=', id).returning('id').executeTakeFirst()
  return taken !== undefined
}

/** Deletes the requests that a lost secret key sealed. */
export async function loseKey({ tx }: LostKey): Promise<Pick<LostKeyReport, 'resetRequests'>> {
  const lost = await tx.deleteFrom('reset_requests').returning('id').execute()
  return { resetRequests: lost.length }
}
