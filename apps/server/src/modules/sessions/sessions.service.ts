import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { sha256 } from '../../core/crypto.ts'
import { newToken } from '../../core/ids.ts'
import { storageFailureOf } from '../../db/failure.ts'
import { type Db, query, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { extendedEnd, newSessionEnd } from './sessions.rules.ts'

/** What differs between the kinds of sessions. */
const kinds = {
  owner: { table: 'owner_sessions', holder: 'owner_id', prefix: 'kwo' },
  reseller: { table: 'reseller_sessions', holder: 'reseller_id', prefix: 'kwr' },
} as const

export type SessionKind = keyof typeof kinds

/** The account that a session belongs to. */
export interface Holder {
  kind: SessionKind
  id: string
}

/**
 * Creates a session and returns its token; only the token's hash is stored. Ends the oldest ones beyond those that an account
 * can have.
 */
export async function openSession(
  { tx, now }: WriteTransaction,
  { kind, id }: Holder,
  sessionId: string,
): Promise<string> {
  const { table, holder, prefix } = kinds[kind]
  const token = newToken(prefix)
  await sql`insert into ${sql.table(table)} (id, ${sql.ref(holder)}, token_hash, created_at, expires_at)
    values (${sessionId}, ${id}, ${sha256(token)}, ${now}, ${newSessionEnd(now)})`.execute(tx)
  await sql`delete from ${sql.table(table)} where id in (
    select id from ${sql.table(table)} where ${sql.ref(holder)} = ${id} and id <> ${sessionId}
    order by created_at desc, id limit 1000 offset ${limits.accountSessionsMax - 1})`.execute(tx)
  return token
}

interface Row {
  id: string
  holder_id: string
  created_at: number
  expires_at: number
}

const byToken = {
  owner: query((db, values: { tokenHash: string }) =>
    db
      .selectFrom('owner_sessions')
      .select(['id', 'owner_id as holder_id', 'created_at', 'expires_at'])
      .where('token_hash', '=', values.tokenHash),
  ),
  reseller: query((db, values: { tokenHash: string }) =>
    db
      .selectFrom('reseller_sessions')
      .select(['id', 'reseller_id as holder_id', 'created_at', 'expires_at'])
      .where('token_hash', '=', values.tokenHash),
  ),
}

/** Resolves a token to its open session and extends it; undefined if there is none. */
export async function findSession(
  { db, clock }: Pick<Ctx, 'db' | 'clock'>,
  kind: SessionKind,
  token: string,
): Promise<{ id: string; holderId: string } | undefined> {
  const session = await byToken[kind].first(db, { tokenHash: sha256(token) })
  const now = clock.now()
  if (!session || session.expires_at <= now) return undefined
  await extend(db, kinds[kind].table, session, now)
  return { id: session.id, holderId: session.holder_id }
}

/** Extends a session in use. A full disk must not fail a read. */
async function extend(db: Db, table: string, session: Row, now: number): Promise<void> {
  const end = extendedEnd(session, now)
  if (end === undefined) return
  try {
    await sql`update ${sql.table(table)} set expires_at = ${end} where id = ${session.id}`.execute(db)
  } catch (error) {
    if (storageFailureOf(error) !== 'storage_full') throw error
  }
}

/** When an open session began, in milliseconds since 1970; undefined if it has ended. */
export async function findSessionStart(
  db: Db,
  { kind, id }: Holder,
  sessionId: string,
  now: number,
): Promise<number | undefined> {
  const { table, holder } = kinds[kind]
  const { rows } = await sql<Pick<Row, 'created_at'>>`select created_at from ${sql.table(table)}
    where id = ${sessionId} and ${sql.ref(holder)} = ${id} and expires_at > ${now}`.execute(db)
  return rows[0]?.created_at
}

/** Which of these owner sessions are open, without extending them. */
export async function listOpenSessions(
  { db, clock }: Pick<Ctx, 'db' | 'clock'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const open = new Set<string>()
  for (let at = 0; at < ids.length; at += 500) {
    const rows = await db
      .selectFrom('owner_sessions')
      .select('id')
      .where('id', 'in', ids.slice(at, at + 500))
      .where('expires_at', '>', clock.now())
      .execute()
    for (const { id } of rows) open.add(id)
  }
  return open
}

export async function endSession(tx: Tx, { kind, id }: Holder, sessionId: string): Promise<void> {
  const { table, holder } = kinds[kind]
  await sql`delete from ${sql.table(table)} where id = ${sessionId} and ${sql.ref(holder)} = ${id}`.execute(
    tx,
  )
}

export async function endSessions(tx: Tx, { kind, id }: Holder): Promise<void> {
  const { table, holder } = kinds[kind]
  await sql`delete from ${sql.table(table)} where ${sql.ref(holder)} = ${id}`.execute(tx)
}
