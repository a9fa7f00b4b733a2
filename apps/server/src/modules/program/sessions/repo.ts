import { fixedQuery } from '../../../db/fixed-query.ts'
import { locked, type Tx } from '../../../db/open.ts'
import { endedVersion } from '../../sessions/sessions.service.ts'
import type { SessionFacts } from '../facts/facts.ts'

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
  const { expiresAt, endUser } = session
  const clientId = endUser?.id ?? null
  await write(tx, session, { clientId, hwidHash: null, expiresAt, secretVersion: endedVersion }, now)
}

/**
 * Deletes up to `count` sessions of an end user beyond its `most` last used ones, and returns how many. Sessions with a seat
 * stay, so that a flood of sign-ins returns no seat of a program that runs.
 */
export async function deleteOldestSessions(
  tx: Tx,
  endUserId: string,
  { most, count, now }: { most: number; count: number; now: number },
): Promise<number> {
  const oldest = tx
    .selectFrom('client_sessions')
    .select('id')
    .where('client_id', '=', endUserId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('seats')
            .select('seats.session_id')
            .whereRef('seats.session_id', '=', 'client_sessions.id')
            .where('seats.until', '>', now),
        ),
      ),
    )
    .orderBy('expires_at', 'desc')
    .orderBy('id')
    .limit(count)
    .offset(most)
  const deleted = await tx.deleteFrom('client_sessions').where('id', 'in', oldest).returning('id').execute()
  return deleted.length
}

/** Writes nothing and returns false if the session has ended since it was read. */
async function write(
  tx: Tx,
  { id, app, secretVersion, tokenHash, locale, version }: SessionFacts,
  state: SignedIn & { secretVersion: number },
  now: number,
): Promise<boolean> {
  const { clientId, hwidHash, expiresAt } = state
  const change = { clientId, hwidHash, expiresAt, newVersion: state.secretVersion, version }
  const row =
    tokenHash === null
      ? await updateSession.first(tx, { id, secretVersion, ...change })
      : await insertSession.first(tx, {
          id,
          secretVersion,
          ...change,
          appId: app.id,
          tokenHash,
          locale,
          now,
        })
  return row !== undefined
}

interface StoredSession {
  id: string
  /** The secret's version that the session must still have. */
  secretVersion: number
  clientId: string | null
  hwidHash: string | null
  expiresAt: number
  newVersion: number
  version: string | null
}

const toColumns = (session: StoredSession) => ({
  client_id: session.clientId,
  hwid_hash: session.hwidHash,
  expires_at: session.expiresAt,
  secret_version: session.newVersion,
  version: session.version,
})

const updateSession = fixedQuery((db, values: StoredSession) =>
  db
    .updateTable('client_sessions')
    .set(toColumns(values))
    .where('id', '=', values.id)
    .where('secret_version', '=', values.secretVersion)
    .returning('id'),
)

// Another sign-in on the same token may have written the row first.
const insertSession = fixedQuery(
  (db, values: StoredSession & { appId: string; tokenHash: string; locale: string | null; now: number }) =>
    db
      .insertInto('client_sessions')
      .values({
        id: values.id,
        app_id: values.appId,
        token_hash: values.tokenHash,
        locale: values.locale,
        created_at: values.now,
        ...toColumns(values),
      })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet(toColumns(values))
          .where('client_sessions.secret_version', '=', values.secretVersion),
      )
      .returning('id'),
)

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
