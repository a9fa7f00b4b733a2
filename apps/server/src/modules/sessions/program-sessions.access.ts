import { prepared, type Tx } from '../../db/index.ts'

// Session ids come from the resolved token of a call, never from its input, so these functions take no scope.

/** A session as a call of a program reads it. */
interface ProgramSession {
  id: string
  /** The secret's version when the session was opened. */
  secretVersion: number
  /** Null once the session has a row. */
  tokenHash: string | null
  locale: string | null
  version: string | null
  expiresAt: number
  app: { id: string }
  endUser: { id: string } | null
}

interface SignedIn {
  clientId: string | null
  hwidHash: string | null
  expiresAt: number
}

/** Signs a session in as an end user; false if the session has ended meanwhile. */
export const signSessionIn = (
  tx: Tx,
  session: ProgramSession,
  user: SignedIn,
  now: number,
): Promise<boolean> => write(tx, session, { ...user, secretVersion: session.secretVersion }, now)

/** The secret's version of a program's session that has ended: no secret has it, so the session is refused. */
const endedVersion = -1

/** Ends a session. Its row stays until the token has expired, because the token alone would open it again. */
export async function endSession(tx: Tx, session: ProgramSession, now: number): Promise<void> {
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
  { id, app, secretVersion, tokenHash, locale, version }: ProgramSession,
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

const updateSession = prepared((db, values: StoredSession) =>
  db
    .updateTable('client_sessions')
    .set(toColumns(values))
    .where('id', '=', values.id)
    .where('secret_version', '=', values.secretVersion)
    .returning('id'),
)

// Another sign-in on the same token may have written the row first.
const insertSession = prepared(
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

export async function extendSessions(tx: Tx, ids: readonly string[], expiresAt: number): Promise<void> {
  await tx.updateTable('client_sessions').set({ expires_at: expiresAt }).where('id', 'in', ids).execute()
}

/** Ends the program sessions of end users that are about to be deleted; their rows stay until the tokens expire. */
export async function endProgramSessionsOf(tx: Tx, endUserIds: readonly string[]): Promise<void> {
  await tx
    .updateTable('client_sessions')
    .set({ client_id: null, hwid_hash: null, secret_version: endedVersion })
    .where('client_id', 'in', endUserIds)
    .execute()
}
