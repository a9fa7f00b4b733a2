import type { OwnerScope } from '../../core/actor.ts'
import { type Db, inScope, type Tx } from '../../db/index.ts'
import type { DeviceTokenRow } from '../../db/tables.ts'

/** How many days an app remembers a sign-in; 0 for not at all. */
export async function readRememberDays(tx: Db, app: { id: string }): Promise<number> {
  const row = await tx
    .selectFrom('apps')
    .select('remember_days as days')
    .where('id', '=', app.id)
    .executeTakeFirst()
  return row?.days ?? 0
}

/** The hash of the device that a session is signed in on; undefined if the session has ended or has another end user. */
export async function findHashOfSession(
  tx: Tx,
  { id, secretVersion }: { id: string; secretVersion: number },
  endUserId: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('client_sessions')
    .select('hwid_hash')
    .where('id', '=', id)
    .where('secret_version', '=', secretVersion)
    .where('client_id', '=', endUserId)
    .executeTakeFirst()
  return row?.hwid_hash ?? undefined
}

/** The id of its row, which a token names. */
export const idOfToken = (token: string): string | undefined =>
  /^kwd_[\w-]{1,100}\.(dtk_\w{1,60})$/.exec(token)?.[1]

/** Programs name the token's id, which is a part of the secret that they hold. */
export const findToken = (db: Db, app: { id: string }, id: string): Promise<DeviceTokenRow | undefined> =>
  db
    .selectFrom('device_tokens')
    .selectAll()
    .where('app_id', '=', app.id)
    .where('id', '=', id)
    .executeTakeFirst()

/** Stores a device's token in place of the one that it has. */
export async function putToken(tx: Tx, row: DeviceTokenRow): Promise<void> {
  await deleteTokenOf(tx, row.device_id)
  await tx.insertInto('device_tokens').values(row).execute()
}

export async function deleteTokenOf(tx: Tx, deviceId: string): Promise<void> {
  await tx.deleteFrom('device_tokens').where('device_id', '=', deviceId).execute()
}

/** Ends the remembered sign-ins of an end user. */
export async function deleteTokensOf(tx: Tx, scope: OwnerScope, clientId: string): Promise<void> {
  await tx.deleteFrom('device_tokens').where('client_id', '=', clientId).where(inScope(scope)).execute()
}

/** Replaces a token by the next one; false if `presented` is neither the latest token nor the one before it. */
export async function rotateToken(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  { presented, next, now, expiresAt }: { presented: string; next: string; now: number; expiresAt: number },
): Promise<boolean> {
  const row = await tx
    .updateTable('device_tokens')
    .set({ token_hash: next, previous_hash: presented, created_at: now, expires_at: expiresAt })
    .where(inScope(scope))
    .where('id', '=', id)
    .where((eb) => eb.or([eb('token_hash', '=', presented), eb('previous_hash', '=', presented)]))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes a token unless `presented` is the latest one or the one before it; false if it is, or if there is none. */
export async function deleteCopiedToken(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  presented: string,
): Promise<boolean> {
  const row = await tx
    .deleteFrom('device_tokens')
    .where(inScope(scope))
    .where('id', '=', id)
    .where('token_hash', '!=', presented)
    .where((eb) => eb.or([eb('previous_hash', 'is', null), eb('previous_hash', '!=', presented)]))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** The hash that a device is bound by; undefined if it was freed. */
export async function findDeviceHash(
  tx: Db,
  scope: OwnerScope,
  deviceId: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('devices')
    .select('hwid_hash')
    .where(inScope(scope))
    .where('id', '=', deviceId)
    .executeTakeFirst()
  return row?.hwid_hash
}
