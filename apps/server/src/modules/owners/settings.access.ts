import type { OfOwner } from '../../core/actor.ts'
import type { Db, Tx } from '../../db/index.ts'

export const getSettings = (db: Db, scope: OfOwner) =>
  db
    .selectFrom('owners')
    .select(['pause_applications', 'hwid_lock'])
    .where('id', '=', scope.ownerId)
    .executeTakeFirstOrThrow()

export async function updateSettings(
  tx: Tx,
  scope: OfOwner,
  change: { pauseApplications?: boolean | undefined; hwidLock?: boolean | undefined },
): Promise<void> {
  const { pauseApplications, hwidLock } = change
  await tx
    .updateTable('owners')
    .set({
      ...(pauseApplications === undefined ? {} : { pause_applications: pauseApplications ? 1 : 0 }),
      ...(hwidLock === undefined ? {} : { hwid_lock: hwidLock ? 1 : 0 }),
    })
    .where('id', '=', scope.ownerId)
    .execute()
}
