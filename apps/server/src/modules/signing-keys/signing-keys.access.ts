import type { Db } from '../../db/index.ts'

/** A key that may sign, with its sealed private part. */
export interface PinnedKey {
  kid: string
  publicKey: string
  sealed: string
}

/**
 * The keys of an app that are not revoked, newest first; none while the app has only its first one. Takes no scope:
 * programs name the app, and receive signatures, not the keys.
 */
export async function listPinnableKeys(db: Db, appId: string) {
  const rows = await db
    .selectFrom('signing_keys')
    .select(['kid', 'public_key', 'sealed', 'status'])
    .where('app_id', '=', appId)
    .orderBy('number', 'desc')
    .execute()
  return rows.flatMap(({ kid, public_key, sealed, status }) =>
    status === 'revoked' ? [] : [{ kid, publicKey: public_key, sealed, status }],
  )
}
