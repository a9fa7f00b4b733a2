import type { BodyOf, endpoints } from '@keyward/contract'
import type { OfOwner } from '../../core/actor.ts'
import type { Db, Tx } from '../../db/index.ts'

export const getSettings = (db: Db, scope: OfOwner) =>
  db
    .selectFrom('owners')
    .select(['pause_applications', 'hwid_lock', 'require_second_factor'])
    .where('id', '=', scope.ownerId)
    .executeTakeFirstOrThrow()

export async function updateSettings(
  tx: Tx,
  scope: OfOwner,
  { pauseApplications, hwidLock, requireSecondFactor }: BodyOf<typeof endpoints.settings.update>,
): Promise<void> {
  await tx
    .updateTable('owners')
    .set({
      ...(pauseApplications === undefined ? {} : { pause_applications: pauseApplications ? 1 : 0 }),
      ...(hwidLock === undefined ? {} : { hwid_lock: hwidLock ? 1 : 0 }),
      ...(requireSecondFactor === undefined ? {} : { require_second_factor: requireSecondFactor ? 1 : 0 }),
    })
    .where('id', '=', scope.ownerId)
    .execute()
}
