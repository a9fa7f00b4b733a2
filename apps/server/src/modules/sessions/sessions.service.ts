import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { type Access, type Actor, accessOf, type OfOwner } from '../../core/actor.ts'
import { day, minute } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newToken } from '../../core/ids.ts'
import { currentAgent } from '../../core/networks/caller.ts'
import { storageFailureOf } from '../../db/failure.ts'
import { type Db, prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { AccountSessionColumns } from '../../db/tables/owners.ts'
import type { Ctx } from '../../service/ctx.ts'

const lifetimeMs = 30 * day
/** The use of a session is noted at most this often, so that reads do not become writes. */
const noteAfterMs = 10 * minute
/** Limits how long a stolen token works while it is kept in use. */
const maxAgeMs = 90 * day

/** The end of a new session, unless it is used. */
const newSessionEnd = (now: number): number => now + lifetimeMs

/** The end of a session that is used now. */
const sessionEnd = (createdAt: number, now: number): number =>
  Math.min(newSessionEnd(now), createdAt + maxAgeMs)

/** What differs between the kinds of sessions. */
const kinds = {
  account: { table: 'owner_sessions', holder: 'account_id', prefix: 'kwo' },
  reseller: { table: 'reseller_sessions', holder: 'reseller_id', prefix: 'kwr' },
} as const

export type SessionKind = keyof typeof kinds

/** The person or the reseller that a session belongs to. */
export interface Holder {
  kind: SessionKind
  id: string
}

/** The holder of a new session; `ownerId` is the vendor account that a person's session works on. */
export type NewHolder = { kind: 'account'; id: string; ownerId: string } | { kind: 'reseller'; id: string }

/**
 * Creates a session and returns its token; only the token's hash is stored. Ends the oldest ones beyond those that an account
 * can have.
 */
export async function openSession(
  { tx, now, actor }: WriteTransaction,
  account: NewHolder,
  sessionId: string,
  confirmedAt = now,
): Promise<string> {
  const { kind, id } = account
  const { table, holder, prefix } = kinds[kind]
  const token = newToken(prefix)
  const times = {
    created_at: now,
    expires_at: newSessionEnd(now),
    confirmed_at: confirmedAt,
    last_used_at: now,
  }
  const row = { id: sessionId, token_hash: sha256(token), ...times, ...placeOf(actor) }
  await (account.kind === 'account'
    ? tx.insertInto('owner_sessions').values({ ...row, account_id: id, owner_id: account.ownerId })
    : tx.insertInto('reseller_sessions').values({ ...row, reseller_id: id })
  ).execute()
  await sql`delete from ${sql.table(table)} where id in (
    select id from ${sql.table(table)} where ${sql.ref(holder)} = ${id} and id <> ${sessionId}
    order by created_at desc, id limit 1000 offset ${limits.accountSessionsMax - 1})`.execute(tx)
  return token
}

/** Where a session is opened, for its holder to read. */
const placeOf = (actor: Actor) => ({
  address: 'address' in actor ? actor.address : null,
  agent: currentAgent(),
})

type Row = Pick<AccountSessionColumns, 'id' | 'created_at' | 'expires_at' | 'last_used_at'>

/** With what the person may do at the vendor account: `owned_by` is its owner, `role` that of a member. */
const ofPerson = prepared((db, values: { tokenHash: string }) =>
  db
    .selectFrom('owner_sessions as s')
    .innerJoin('owners as o', 'o.id', 's.owner_id')
    .leftJoin('members as m', (join) =>
      join.onRef('m.owner_id', '=', 's.owner_id').onRef('m.account_id', '=', 's.account_id'),
    )
    .leftJoin('second_factors as f', 'f.account_id', 's.account_id')
    .select(['s.id', 's.owner_id', 's.account_id', 's.created_at', 's.expires_at'])
    .select(['s.last_used_at', 's.confirmed_at'])
    .select(['o.require_second_factor', 'o.disabled_at', 'f.active as has_factor'])
    .select(['o.account_id as owned_by', 'm.role', 'm.permissions', 'm.apps'])
    .where('s.token_hash', '=', values.tokenHash),
)

const ofReseller = prepared((db, values: { tokenHash: string }) =>
  db
    .selectFrom('reseller_sessions as s')
    .leftJoin('second_factors as f', 'f.reseller_id', 's.reseller_id')
    .select(['s.id', 's.reseller_id', 's.created_at', 's.expires_at', 's.last_used_at', 's.confirmed_at'])
    .select('f.active as has_factor')
    .where('s.token_hash', '=', values.tokenHash),
)

/** A person's open session, and what the person may do at the vendor account now. */
export interface PersonSession {
  sessionId: string
  accountId: string
  ownerId: string
  access: Access
  confirmedAt: number
  hasFactor: boolean
  /** Whether the vendor requires a second factor of its members, and this one has none. */
  lacksFactor: boolean
}

/** Resolves a token to its open session and extends it; undefined if there is none, or the person has left the vendor. */
export async function findPersonSession(
  { db, clock }: Pick<Ctx, 'db' | 'clock'>,
  token: string,
  address: string,
): Promise<PersonSession | undefined> {
  const session = await ofPerson.first(db, { tokenHash: sha256(token) })
  // A sign-in may have opened it while the operator disabled the vendor account.
  if (!session || session.disabled_at !== null) return undefined
  const { account_id: accountId, owner_id: ownerId, role, permissions, apps } = session
  const member = role === null ? undefined : { role, permissions, apps }
  const access = accessOf(session.owned_by === accountId, member)
  if (!access || !(await isOpen(db, 'owner_sessions', session, address, clock.now()))) return undefined
  const hasFactor = session.has_factor === 1
  return {
    sessionId: session.id,
    accountId,
    ownerId,
    access,
    confirmedAt: session.confirmed_at,
    hasFactor,
    lacksFactor: access.role !== 'owner' && session.require_second_factor === 1 && !hasFactor,
  }
}

/** Resolves a token to its open session and extends it; undefined if there is none. */
export async function findResellerSession(
  { db, clock }: Pick<Ctx, 'db' | 'clock'>,
  token: string,
  address: string,
): Promise<{ id: string; resellerId: string; confirmedAt: number; hasFactor: boolean } | undefined> {
  const session = await ofReseller.first(db, { tokenHash: sha256(token) })
  if (!session || !(await isOpen(db, 'reseller_sessions', session, address, clock.now()))) return undefined
  return {
    id: session.id,
    resellerId: session.reseller_id,
    confirmedAt: session.confirmed_at,
    hasFactor: session.has_factor === 1,
  }
}

async function isOpen(db: Db, table: string, session: Row, address: string, now: number): Promise<boolean> {
  if (session.expires_at <= now) return false
  await noteUse(db, table, session, address, now)
  return true
}

/** What is noted of a session in use: when, and its extended end. Undefined if it was noted recently. */
export function noteOfUse(
  session: { created_at: number; last_used_at: number },
  now: number,
): { last_used_at: number; expires_at: number } | undefined {
  // A use in the future was noted before the clock was set back.
  if (Math.abs(now - session.last_used_at) < noteAfterMs) return undefined
  return { last_used_at: now, expires_at: sessionEnd(session.created_at, now) }
}

/** Notes the use of a session and extends it. A full disk must not fail a read. */
async function noteUse(db: Db, table: string, session: Row, address: string, now: number): Promise<void> {
  const note = noteOfUse(session, now)
  if (note === undefined) return
  try {
    await sql`update ${sql.table(table)}
      set expires_at = ${note.expires_at}, last_used_at = ${note.last_used_at}, address = ${address}
      where id = ${session.id}`.execute(db)
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

/** Which of these sessions of persons are open, without extending them. */
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

/** False if the holder has no such session. */
export async function endSession(tx: Tx, { kind, id }: Holder, sessionId: string): Promise<boolean> {
  const { table, holder } = kinds[kind]
  const { rows } = await sql`delete from ${sql.table(table)}
    where id = ${sessionId} and ${sql.ref(holder)} = ${id} returning id`.execute(tx)
  return rows.length > 0
}

/** Ends all sessions of a holder and returns how many. */
export async function endSessions(tx: Tx, { kind, id }: Holder): Promise<number> {
  const { table, holder } = kinds[kind]
  const { rows } = await sql`delete from ${sql.table(table)}
    where ${sql.ref(holder)} = ${id} returning id`.execute(tx)
  return rows.length
}

/** Ends the sessions that work on a vendor account: all of them, or those of one person. */
export async function endSessionsAt(tx: Tx, { ownerId }: OfOwner, accountId?: string): Promise<void> {
  const some = tx.deleteFrom('owner_sessions').where('owner_id', '=', ownerId)
  await (accountId === undefined ? some : some.where('account_id', '=', accountId)).execute()
}

/** Ends up to `count` sessions of the resellers of a vendor account and returns how many. */
export async function endResellerSessionsAt(tx: Tx, { ownerId }: OfOwner, count: number): Promise<number> {
  const some = tx
    .selectFrom('reseller_sessions as s')
    .innerJoin('resellers as r', 'r.id', 's.reseller_id')
    .select('s.id')
    .where('r.owner_id', '=', ownerId)
    .limit(count)
  const ended = await tx.deleteFrom('reseller_sessions').where('id', 'in', some).returning('id').execute()
  return ended.length
}

/** Gives a new session the age and the proof of identity of another one; false if that one has ended. */
export async function continueSession(
  { tx, now }: WriteTransaction,
  from: string,
  sessionId: string,
): Promise<boolean> {
  const earlier = await tx
    .selectFrom('owner_sessions')
    .select(['created_at', 'confirmed_at'])
    .where('id', '=', from)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!earlier) return false
  const expires_at = sessionEnd(earlier.created_at, now)
  await tx
    .updateTable('owner_sessions')
    .set({ ...earlier, expires_at })
    .where('id', '=', sessionId)
    .execute()
  return true
}
