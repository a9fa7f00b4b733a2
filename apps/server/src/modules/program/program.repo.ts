import { locked, type Tx } from '../../db/open.ts'
import { endedVersion } from '../sessions/sessions.service.ts'
import type { SessionFacts } from './program.facts.ts'

// Session ids come from the resolved token of a call, never from its input, so these functions take no scope.

interface SignedIn {
  clientId: string | null
  hwidHash: string | null
  expiresAt: number
}

/** Signs a session in as an end user; false if the session has ended meanwhile. */
export const signSessionIn = (tx: Tx, session: SessionFacts, user: SignedIn, now: number): Promise<boolean> =>
  write(tx, session, { ...user, secretVersion: session.secretVersion }, now)

/** Ends a session. Its row stays until the token has expired, because the token alone would open it again. */
export async function endSession(tx: Tx, session: SessionFacts, now: number): Promise<void> {
  const { expiresAt } = session
  await write(tx, session, { clientId: null, hwidHash: null, expiresAt, secretVersion: endedVersion }, now)
}

/** Writes nothing and returns false if the session has ended since it was read. */
async function write(
  tx: Tx,
  { id, app, secretVersion, tokenHash, locale, version }: SessionFacts,
  state: SignedIn & { secretVersion: number },
  now: number,
): Promise<boolean> {
  const change = {
    client_id: state.clientId,
    hwid_hash: state.hwidHash,
    expires_at: state.expiresAt,
    secret_version: state.secretVersion,
    version,
  }
  const update = () =>
    tx
      .updateTable('client_sessions')
      .set(change)
      .where('id', '=', id)
      .where('secret_version', '=', secretVersion)
      .returning('id')
  // Another sign-in on the same token may have written the row first.
  const insert = (hash: string) =>
    tx
      .insertInto('client_sessions')
      .values({ id, app_id: app.id, token_hash: hash, locale, created_at: now, ...change })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(change).where('client_sessions.secret_version', '=', secretVersion),
      )
      .returning('id')
  const row = await (tokenHash === null ? update() : insert(tokenHash)).executeTakeFirst()
  return row !== undefined
}

/** Remembers an SDK that programs of an app name, unless it is known or the app has `max` already. */
export async function insertSdk(
  tx: Tx,
  row: { app_id: string; sdk: string; first_seen_at: number },
  max: number,
): Promise<void> {
  const hasRoom = async () => {
    const rows = await tx.selectFrom('app_sdks').select('sdk').where('app_id', '=', row.app_id).execute()
    return rows.length < max && rows.every(({ sdk }) => sdk !== row.sdk)
  }
  if (!(await hasRoom())) return
  // Locks the app, so that the count holds until the commit.
  const app = await locked(
    tx,
    tx.selectFrom('apps').select('id').where('id', '=', row.app_id),
  ).executeTakeFirst()
  if (app && (await hasRoom())) await tx.insertInto('app_sdks').values(row).execute()
}

export async function noteInitWithoutSdk(tx: Tx, appId: string, now: number): Promise<void> {
  await tx
    .updateTable('apps')
    .set({ sdkless_init_at: now })
    .where('id', '=', appId)
    .where((eb) => eb.or([eb('sdkless_init_at', 'is', null), eb('sdkless_init_at', '<', now)]))
    .execute()
}

export async function extendSessions(tx: Tx, ids: readonly string[], expiresAt: number): Promise<void> {
  await tx.updateTable('client_sessions').set({ expires_at: expiresAt }).where('id', 'in', ids).execute()
}
