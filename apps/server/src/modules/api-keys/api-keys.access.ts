import type { OwnerScope } from '../../core/actor.ts'
import { lock, type Tx, type WriteTransaction } from '../../db/index.ts'
import { lockOwner } from '../owners/owners.service.ts'

/** Revokes all keys of a vendor: the next request with one is refused. */
export async function revokeApiKeys(write: WriteTransaction, scope: OwnerScope): Promise<void> {
  // The update waits for keys that are being created, and finds them.
  await lockOwner(write.tx, scope)
  const revoked = await write.tx
    .updateTable('api_keys')
    .set({ revoked_at: write.now })
    .where('owner_id', '=', scope.ownerId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute()
  if (revoked.length > 0) write.record('api_keys.revoked', null, { count: revoked.length })
}

/** Removes an app that is deleted from the keys that name it; one that named no other can access nothing. */
export async function removeAppFromApiKeys(tx: Tx, { ownerId }: OwnerScope, appId: string): Promise<void> {
  const limited = await lock
    .all(
      tx,
      tx
        .selectFrom('api_keys')
        .select(['id', 'apps'])
        .where('owner_id', '=', ownerId)
        .where('revoked_at', 'is', null)
        .where('apps', 'like', `%"${appId}"%`),
    )
    .execute()
  for (const { id, apps } of limited) {
    const others = (JSON.parse(apps ?? '[]') as string[]).filter((one) => one !== appId)
    await tx
      .updateTable('api_keys')
      .set({ apps: JSON.stringify(others) })
      .where('id', '=', id)
      .execute()
  }
}
