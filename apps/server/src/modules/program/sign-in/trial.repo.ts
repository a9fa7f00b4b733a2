import { limits } from '@keyward/contract'
import type { Db, Tx } from '../../../db/index.ts'

// The app comes from the resolved session of a call, so these functions take no other scope.

/** The end user whose trial began on a device with one of these marks; it may be deleted. */
export async function findTrial(
  db: Db,
  appId: string,
  marks: readonly string[],
): Promise<string | undefined> {
  const row = await db
    .selectFrom('trial_marks')
    .select('client_id')
    .where('app_id', '=', appId)
    .where('mark', 'in', marks)
    .orderBy('created_at', 'desc')
    .executeTakeFirst()
  return row?.client_id
}

/** Whether more of a trial's device may be remembered: a program can change what it reports without end. */
export async function hasRoomForMarks(tx: Tx, clientId: string): Promise<boolean> {
  const rows = await tx
    .selectFrom('trial_marks')
    .select('mark')
    .where('client_id', '=', clientId)
    .limit(limits.trialMarksMax)
    .execute()
  return rows.length < limits.trialMarksMax
}

/**
 * Marks a device as that of a trial. Returns false if it already had one of the marks: of concurrent callers exactly
 * one gets true. The marks are sorted, so that they wait for each other instead of deadlocking.
 */
export async function addMarks(
  tx: Tx,
  appId: string,
  marks: readonly string[],
  { clientId, now }: { clientId: string; now: number },
): Promise<boolean> {
  const added = await tx
    .insertInto('trial_marks')
    .values(marks.map((mark) => ({ app_id: appId, mark, client_id: clientId, created_at: now })))
    .onConflict((conflict) => conflict.columns(['app_id', 'mark']).doNothing())
    .returning('mark')
    .execute()
  return added.length === marks.length
}
